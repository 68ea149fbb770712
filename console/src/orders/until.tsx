import { addDays, startOf, useToday, useZone } from "../shop/days.ts";
import { Segments } from "../ui/segments.tsx";
import { useId } from "../ui/use-id.ts";

/** The last day until which an animal can be reserved, from today. */
const MOST_DAYS = 89;

/** Until when an animal is reserved: the end of a day, or, as an empty text, for as long as the service decides. */
export function useUntil(): (date: string) => { readonly expiresAt?: string } {
  const zone = useZone();
  return (date) => (date && zone ? { expiresAt: startOf(addDays(date, 1), zone) } : {});
}

interface UntilProps {
  readonly value: string;
  readonly choose: (date: string) => void;
  /** True if it can be short. */
  readonly canBeShort: boolean;
}

/** The choice of the day at whose end a reservation ends. */
export function Until({ value, choose, canBeShort }: UntilProps) {
  const today = useToday();
  const id = useId();
  const [tomorrow, last] = [addDays(today, 1), addDays(today, MOST_DAYS)];
  return (
    <div class="field until">
      <label for={id}>Until</label>
      <Segments
        label="Until"
        chosen={value}
        choose={choose}
        choices={[
          ...(canBeShort ? [["", "15 minutes"] as const] : []),
          [today, "End of today"],
          [tomorrow, "End of tomorrow"],
        ]}
      />
      <input
        id={id}
        type="date"
        min={today}
        max={last}
        value={value}
        onInput={({ currentTarget }) => currentTarget.validity.valid && choose(currentTarget.value)}
      />
    </div>
  );
}
