interface SelectProps {
  readonly value: string;
  readonly choose: (value: string) => void;
  /** Values and what they are called. */
  readonly choices: readonly (readonly [value: string, text: string])[];
  /** True if the choices, but that without a value, are names that no browser should translate. */
  readonly areNames?: boolean;
  readonly id?: string;
  readonly "aria-label"?: string;
  readonly "aria-describedby"?: string | undefined;
  readonly "aria-invalid"?: boolean;
  readonly disabled?: boolean;
  readonly required?: boolean;
}

/** A drop-down list. A value that is not among the choices is shown, too. */
export function Select({ choose, choices, areNames, ...rest }: SelectProps) {
  const { value: current } = rest;
  const shown = choices.some(([value]) => value === current) ? choices : [...choices, [current, current] as const];
  return (
    <select onChange={({ currentTarget }) => choose(currentTarget.value)} {...rest}>
      {shown.map(([value, text]) => (
        <option key={value} value={value} translate={!areNames || !value}>
          {text}
        </option>
      ))}
    </select>
  );
}
