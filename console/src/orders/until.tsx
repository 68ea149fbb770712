import type { StoreOrder } from "petstore-client";
import { addDays, dayText, startOf, useToday, useZone } from "../shop/days.ts";
import { Segments } from "../ui/segments.tsx";
import { useId } from "../ui/use-id.ts";

/** The days after tomorrow that are offered by name: with today and tomorrow, a week. */
const NAMED_DAYS = [2, 3, 4, 5, 6];

/** The last day until which an animal can be reserved, from today. */
const MOST_DAYS = 89;

/** Until when an animal is reserved: the end of a day, or, as an empty text, for as long as the service decides. */
export function useUntil(): (date: string) => { readonly expiresAt?: string } {
  const zone = useZone();
  return (date) => (date && zone ? { expiresAt: startOf(addDays(date, 1), zone) } : {});
}

/** Until when an order reserves its animal: until the end of the day that was chosen, or until a time. */
export const untilText = (date: string, { expiresAt }: StoreOrder): string =>
  `until ${date ? dayText(date, { weekday: "long", day: "numeric", month: "long" }) : new Date(expiresAt).toLocaleTimeString(undefined, { timeStyle: "short" })}`;

interface UntilProps {
  readonly value: string;
  readonly choose: (date: string) => void;
  /** The first day that can be chosen. By default it can be today, or short. */
  readonly first?: string;
}

/** The choice of the day at whose end a reservation ends. */
export function Until({ value, choose, first = "" }: UntilProps) {
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
          ["", "15 minutes"] as const,
          [today, "Today"] as const,
          [tomorrow, "Tomorrow"] as const,
          ...NAMED_DAYS.map((days) => {
            const day = addDays(today, days);
            return [day, dayText(day, { weekday: "short" })] as const;
          }),
        ].filter(([day]) => day >= first)}
      />
      <input
        id={id}
        type="date"
        min={first || today}
        max={last}
        value={value}
        onInput={({ currentTarget }) => currentTarget.validity.valid && choose(currentTarget.value)}
      />
    </div>
  );
}
