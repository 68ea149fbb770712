import { millisecondsOf, timestampOf } from "../../contract/schemas.ts";
import { isOneOf } from "../../storage/pages.ts";
import { cachedQuery, query, type Row, type SqlParameter } from "../../storage/statement.ts";
import { all, first, type Query } from "../../storage/transaction.ts";
import { DAY_MS, HOUR_MS } from "../../timing/clock.ts";
import { MAX_DAYS, MAX_SALES, type Sales, type SalesFigures } from "./sales.operations.ts";
import { daysOfZone, type ZoneDay } from "./zone-days.ts";

/** The span of a request, as the client sent it. */
interface Span {
  readonly since?: string;
  readonly until?: string;
  readonly timeZone: string;
}

/** Why there are no figures: what is wrong with a parameter. */
interface WrongSpan {
  readonly refused: "wrong span";
  readonly parameter: keyof Span;
  readonly message: string;
}

/** The sales or returns of one day with the same seller, category and currency. */
interface GroupRow extends Row {
  day: bigint;
  /** 1 for returns, 0 for sales. */
  returned: bigint;
  seller: string;
  category_id: bigint;
  /** Null without a price. */
  currency: string | null;
  orders: bigint;
  amount: bigint | null;
}

interface CategoryRow extends Row {
  id: bigint;
  name: string;
}

/** The numbers of sales and of returns, each up to one more than a request may have. */
interface NumbersRow extends Row {
  sales: bigint;
  returns: bigint;
}

const numberIn = (column: string) =>
  `(SELECT count(*) FROM (SELECT id FROM store_orders WHERE shop = $1 AND ${column} >= $2 AND ${column} < $3
     ORDER BY ${column} LIMIT ${MAX_SALES + 1}) AS part)`;
const numbersIn = query<[shop: number, since: number, until: number], NumbersRow>(
  `SELECT ${numberIn("confirmed_at")} AS sales, ${numberIn("returned_at")} AS returns`,
);

/** The numbers of days for which there are statements; fewer days are filled up with empty ones. */
const sizes = [1, 8, 32, MAX_DAYS + 2];
/** The most categories that are looked up by one statement. */
const NAMES = 500;

/** Part of a read: what a shop has sold, by default today. `now` is in Unix milliseconds. */
export function* readSales(shop: number, span: Span, now: number): Query<Sales | WrongSpan> {
  const today = daysOfZone(span.timeZone, now - 2 * DAY_MS, now + 2 * DAY_MS)?.find(({ end }) => now < end);
  if (!today) return wrong("timeZone", "must be a time zone of the IANA database, such as Europe/Berlin");
  const since = span.since === undefined ? today.start : millisecondsOf(span.since);
  const until = span.until === undefined ? today.end : millisecondsOf(span.until);
  if (until < since) return wrong("until", "must not be before since");
  // The end of summer time adds an hour.
  if (until - since > MAX_DAYS * DAY_MS + HOUR_MS)
    return wrong("since", `must be at most ${MAX_DAYS} days before until`);
  const days = daysOfZone(span.timeZone, since, until) ?? [];
  const numbers = yield* first(numbersIn, shop, since, until);
  if (Number(numbers?.sales) > MAX_SALES || Number(numbers?.returns) > MAX_SALES)
    return wrong("since", "must be later: there are too many sales");
  const rows = yield* groups(shop, days);
  const total = figuresOf(rows);
  if (total.amounts.some((one) => Math.max(one.sold, one.returned) > Number.MAX_SAFE_INTEGER))
    return wrong("since", "must be later: the amounts are too large to be added");
  const byCategory = Map.groupBy(rows, ({ category_id }) => category_id);
  const names = yield* categoryNames(shop, [...byCategory.keys()]);
  const byDay = Map.groupBy(rows, ({ day }) => Number(day));
  const bySeller = Map.groupBy(rows, (row) => row.seller);
  return {
    since: timestampOf(since),
    until: timestampOf(until),
    timeZone: span.timeZone,
    total,
    days: days.map(({ date }, day) => Object.assign({ date }, figuresOf(byDay.get(day) ?? []))),
    sellers: mostFirst(bySeller, ({ seller: name }) => ({ name })),
    categories: mostFirst(byCategory, ({ category_id: categoryId }) => {
      const name = names.get(categoryId);
      return name === undefined ? { categoryId } : { categoryId, name };
    }),
  };
}

function wrong(parameter: keyof Span, message: string): WrongSpan {
  return { refused: "wrong span", parameter, message };
}

/**
 * Sales and returns of days, grouped. It is one statement, so that all figures are of one moment. It has a part for each
 * day: grouping all days together is slower, because it sorts more rows.
 */
function groups(shop: number, days: readonly ZoneDay[]): Query<readonly GroupRow[]> {
  const size = sizes.find((one) => one >= days.length) ?? days.length;
  const parameters: SqlParameter[] = [shop];
  const bind = (value: number) => `$${parameters.push(value)}`;
  const parts = Array.from({ length: size }, (_, day) => {
    const [start, end] = [bind(days[day]?.start ?? 0), bind(days[day]?.end ?? 0)];
    return ["confirmed_at", "returned_at"].map(
      (column, returned) =>
        `SELECT CAST(${day} AS BIGINT) AS day, CAST(${returned} AS BIGINT) AS returned, seller, category_id, currency,
           count(*) AS orders, CAST(sum(amount) AS BIGINT) AS amount
         FROM store_orders WHERE shop = $1 AND ${column} >= ${start} AND ${column} < ${end}
         GROUP BY category_id, seller, currency`,
    );
  });
  return all(cachedQuery<GroupRow>(parts.flat().join(" UNION ALL ")), ...parameters);
}

/** The names that these categories have now. */
function* categoryNames(shop: number, ids: readonly bigint[]): Query<ReadonlyMap<bigint, string>> {
  const names = new Map<bigint, string>();
  for (let done = 0; done < ids.length; done += NAMES) {
    const parameters: SqlParameter[] = [shop];
    const isOne = isOneOf(ids.slice(done, done + NAMES))((value) => `$${parameters.push(value)}`);
    const named = cachedQuery<CategoryRow>(`SELECT id, name FROM categories WHERE shop = $1 AND ${isOne}`);
    for (const { id, name } of yield* all(named, ...parameters)) names.set(id, name);
  }
  return names;
}

function figuresOf(rows: readonly GroupRow[]): SalesFigures {
  const counts = { sold: 0, returned: 0 };
  const amounts = new Map<string, { currency: string; sold: number; returned: number }>();
  for (const { returned, currency, orders, amount } of rows) {
    const kind = returned === 0n ? "sold" : "returned";
    counts[kind] += Number(orders);
    if (currency === null) continue;
    const sums = amounts.getOrInsert(currency, { currency, sold: 0, returned: 0 });
    sums[kind] += Number(amount);
  }
  return {
    ...counts,
    amounts: [...amounts.values()].toSorted((one, other) => (one.currency < other.currency ? -1 : 1)),
  };
}

/** The figures of groups, each with what it is: those that sold most first, and then in the order of their keys. */
function mostFirst<K, T extends object>(
  groupsByKey: ReadonlyMap<K, GroupRow[]>,
  whatIs: (row: GroupRow) => T,
): (T & SalesFigures)[] {
  return [...groupsByKey]
    .map(([key, rows]) => ({ key, entry: Object.assign(whatIs(rows[0] as GroupRow), figuresOf(rows)) }))
    .toSorted((one, other) => other.entry.sold - one.entry.sold || (one.key < other.key ? -1 : 1))
    .map(({ entry }) => entry);
}
