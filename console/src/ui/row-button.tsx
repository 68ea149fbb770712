interface RowButtonProps {
  /** What the button does. */
  readonly text: string;
  /** What it acts on, for screen readers. */
  readonly of: string;
  readonly onClick: () => void;
  readonly disabled?: boolean;
  /** True for the first action of a row. */
  readonly isFirst?: boolean;
}

/** A button in a row of a table. */
export function RowButton({ text, of, isFirst, ...rest }: RowButtonProps) {
  return (
    <button type="button" class={isFirst ? "small first" : "quiet small"} aria-label={`${text} ${of}`} {...rest}>
      {text}
    </button>
  );
}
