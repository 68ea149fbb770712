import type { Sales, SalesFigures } from "petstore-client";
import type { ComponentChildren } from "preact";
import { isLive } from "../service/live.ts";
import { type QueryResult, useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { addDays, dayText, startOf, useToday, useZone } from "../shop/days.ts";
import { type Bar, Chart } from "../ui/chart.tsx";
import { moneyOf } from "../ui/money.ts";
import { numberOf } from "../ui/words.ts";

/** Prefix of the query keys of what was sold. */
export const SALES = "sales";

/** The most days of which the service adds up the sales. */
export const MAX_DAYS = 366;

/** Charts of more days have no space for the name of each, or for its number. */
const [NAMED, NUMBERED] = [7, 14];

/** The first and the last day, in the shop's time zone. */
export interface Days {
  readonly first: string;
  readonly last: string;
}

/** The span of days as the interface takes it: its end is exclusive. */
export const spanOf = ({ first, last }: Days, zone: string) =>
  [startOf(first, zone), startOf(addDays(last, 1), zone)] as const;

/** What was sold on some days. Events keep it up to date. */
export function useSales({ first, last }: Days): QueryResult<Sales> {
  const { petstore } = useSession();
  const may = useMay();
  const zone = useZone();
  const load = () => {
    const [since, until] = spanOf({ first, last }, zone as string);
    return petstore.getSales({ since, until, timeZone: zone });
  };
  return useQuery(
    zone && first && may("getSales") ? `${SALES} ${first} ${last} ${zone}` : undefined,
    load,
    isLive.value,
  );
}

/** What was earned in a currency, less what was paid back. */
const netOf = ({ sold, returned }: SalesFigures["amounts"][number]) => sold - returned;

/** "95.00 CHF + 129.00 EUR": what was earned in each currency, less what was paid back, or only what was paid back. */
export const sumOf = ({ amounts }: SalesFigures, valueOf = netOf): string =>
  amounts
    .map((one) => ({ amount: valueOf(one), currency: one.currency }))
    .filter(({ amount }) => amount !== 0)
    .map(moneyOf)
    .join(" + ")
    .replaceAll("+ −", "− ");

/** What was paid back. */
export const paidBackOf = (figures: SalesFigures): string => sumOf(figures, ({ returned }) => returned);

/** "3 sold, 1 returned". */
export const countsOf = ({ sold, returned }: SalesFigures): string =>
  [`${numberOf(sold)} sold`, ...(returned > 0 ? [`${numberOf(returned)} returned`] : [])].join(", ");

/** The currency of most sales with a price; undefined if there are none. */
export const currencyOf = ({ amounts }: SalesFigures): string | undefined =>
  amounts.toSorted((one, other) => other.sold - one.sold)[0]?.currency;

/** The value that a bar shows: a sum if there are prices, or else how many were sold and not returned. */
export const shownValue = (figures: SalesFigures, currency: string | undefined): number =>
  Math.max(
    0,
    currency
      ? figures.amounts.reduce((sum, one) => sum + (one.currency === currency ? netOf(one) : 0), 0)
      : figures.sold - figures.returned,
  );

interface SalesChartProps {
  readonly title: ComponentChildren;
  readonly summary: ComponentChildren;
  readonly of: Sales;
}

const clock = { hour: "2-digit", minute: "2-digit" } as const;

/** What was sold on each day, or in each hour of one day. */
export function SalesChart({ title, summary, of: { total, days, hours, timeZone } }: SalesChartProps) {
  const today = useToday();
  const currency = currencyOf(total);
  const isNarrow = matchMedia("(max-width: 720px)").matches;
  const weekday: Intl.DateTimeFormatOptions = { weekday: "short", ...(!isNarrow && { day: "numeric" }) };
  const month = { day: "numeric", month: "short" } as const;
  const label = days.length <= NAMED ? weekday : days.length <= NUMBERED ? ({ day: "numeric" } as const) : month;
  const barOf = (figures: SalesFigures, texts: Pick<Bar, "label" | "title" | "isNow">): Bar => ({
    ...texts,
    values: [shownValue(figures, currency)],
    cells: [countsOf(figures), sumOf(figures)],
    isEmpty: figures.sold === 0 && figures.returned === 0,
  });
  const now = Date.now();
  const bars = hours
    ? hours.map((hour, index) => {
        const start = Date.parse(hour.start);
        const end = Date.parse(hours[index + 1]?.start ?? "") || start + 3_600_000;
        const text = new Date(start).toLocaleTimeString(undefined, { ...clock, timeZone });
        return barOf(hour, { label: text, title: text, isNow: start <= now && now < end });
      })
    : days.map((day) => {
        const isNow = day.date === today;
        const full = dayText(day.date, { ...weekday, ...month });
        return barOf(day, { label: isNow ? "Today" : dayText(day.date, label), title: full, isNow });
      });
  return (
    <Chart
      label={hours ? "Sales by hour" : "Sales by day"}
      unit="sold"
      heads={["Sold", "Net"]}
      series={[["sold", "sold"]]}
      title={title}
      summary={summary}
      bars={bars}
      currency={currency}
    />
  );
}
