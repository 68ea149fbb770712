interface SegmentsProps {
  readonly label: string;
  /** Values, what they are called, and how many there are of each. */
  readonly choices: readonly (readonly [value: string, text: string, count?: string | undefined])[];
  readonly chosen: string;
  readonly choose: (value: string) => void;
}

/** A few choices next to each other, of which one is selected. */
export function Segments({ label, choices, chosen, choose }: SegmentsProps) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {choices.map(([value, text, count]) => (
        <button key={value} type="button" aria-pressed={value === chosen} onClick={() => choose(value)}>
          <span>{text}</span>
          {count && <span aria-hidden="true">{count}</span>}
        </button>
      ))}
    </div>
  );
}
