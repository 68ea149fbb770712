interface SegmentsProps {
  readonly label: string;
  /** Values and what they are called. */
  readonly choices: readonly (readonly [value: string, text: string])[];
  readonly chosen: string;
  readonly choose: (value: string) => void;
}

/** A few choices next to each other, of which one is selected. */
export function Segments({ label, choices, chosen, choose }: SegmentsProps) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {choices.map(([value, text]) => (
        <button key={value} type="button" aria-pressed={value === chosen} onClick={() => choose(value)}>
          {text}
        </button>
      ))}
    </div>
  );
}
