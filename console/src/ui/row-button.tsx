interface RowButtonProps {
  /** What the button does. */
  readonly text: string;
  /** What it acts on, for screen readers. */
  readonly of: string;
  readonly onClick: () => void;
}

/** A button in a row of a table. */
export function RowButton({ text, of, onClick }: RowButtonProps) {
  return (
    <button type="button" class="quiet" aria-label={`${text} ${of}`} onClick={onClick}>
      {text}
    </button>
  );
}
