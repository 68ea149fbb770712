import type { Sales, SalesFigures, SalesOfDay } from "petstore-client";
import type { ComponentChildren } from "preact";
import { isLive } from "../service/live.ts";
import { type QueryResult, useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { Chart } from "../ui/chart.tsx";
import { moneyOf } from "../ui/money.ts";

/** Prefix of the query keys of what was sold. */
export const SALES = "sales";

/** Charts of more days have no space for the name of each, or for its number. */
const [NAMED, NUMBERED] = [7, 14];

/** The first and the last day, each as the moment at which it begins. */
export interface Days {
  readonly first: Date;
  readonly last: Date;
}

/** Midnight at the start of the day `days` after `day`, in the browser's time zone. */
export const dayAfter = (days: number, day = new Date()): Date =>
  new Date(day.getFullYear(), day.getMonth(), day.getDate() + days);

/** "2026-11-27", as the interface and fields for dates have it. */
export const dateOf = (day: Date): string => day.toLocaleDateString("sv");

/** The time zone whose days are meant: that of the browser. */
export const timeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The span of days as the interface takes it: its end is exclusive. */
export const spanOf = ({ first, last }: Days) => [first.toISOString(), dayAfter(1, last).toISOString()] as const;

/** What was sold on some days. Events keep it up to date. */
export function useSales(days: Days): QueryResult<Sales> {
  const { petstore } = useSession();
  const may = useMay();
  const [since, until] = spanOf(days);
  const load = () => petstore.getSales({ since, until, timeZone: timeZone() });
  return useQuery(may("getSales") ? `${SALES} ${since} ${until}` : undefined, load, isLive.value);
}

/** "95.00 CHF + 129.00 EUR": what was earned or paid back, in each currency. */
export const sumOf = ({ amounts }: SalesFigures, kind: "sold" | "returned" = "sold"): string =>
  amounts
    .filter((one) => one[kind] > 0)
    .map((one) => moneyOf({ amount: one[kind], currency: one.currency }))
    .join(" + ");

interface SalesChartProps {
  readonly title: ComponentChildren;
  readonly summary: ComponentChildren;
  readonly days: readonly SalesOfDay[];
}

/** How many were sold on each day. */
export function SalesChart({ title, summary, days }: SalesChartProps) {
  const today = dateOf(new Date());
  const weekday = { weekday: "short", day: "numeric" } as const;
  const month = { day: "numeric", month: "short" } as const;
  const label = days.length <= NAMED ? weekday : days.length <= NUMBERED ? ({ day: "numeric" } as const) : month;
  const bars = days.map((day) => {
    const at = new Date(`${day.date}T12:00`);
    const isNow = day.date === today;
    return {
      label: isNow ? "Today" : at.toLocaleDateString("en-GB", label),
      title: at.toLocaleDateString("en-GB", { ...weekday, ...month }),
      values: [day.sold],
      sum: sumOf(day),
      isNow,
    };
  });
  return (
    <Chart label="Sales by day" unit="sold" series={[["sold", "sold"]]} title={title} summary={summary} bars={bars} />
  );
}
