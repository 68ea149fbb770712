interface SelectProps {
  readonly value: string;
  readonly choose: (value: string) => void;
  /** Values and what they are called. */
  readonly choices: readonly (readonly [value: string, text: string])[];
  readonly id?: string;
  readonly "aria-label"?: string;
  readonly "aria-describedby"?: string | undefined;
  readonly "aria-invalid"?: boolean;
  readonly disabled?: boolean;
  readonly required?: boolean;
}

/** A drop-down list. */
export function Select({ choose, choices, ...rest }: SelectProps) {
  return (
    <select onChange={({ currentTarget }) => choose(currentTarget.value)} {...rest}>
      {choices.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}
