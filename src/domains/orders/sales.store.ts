import type { ShopNumber } from "../../contract/caller.ts";
import { type Failure, invalidInput, type invalidRequest, isFailure } from "../../contract/errors.ts";
import { PAGE_BYTES } from "../../contract/paging.ts";
import { millisecondsOf, timestampOf } from "../../contract/schemas.ts";
import { isOneOf } from "../../storage/pages.ts";
import { cachedQuery, type IdRow, query, type Row, type SqlParameter } from "../../storage/statement.ts";
import { all, first, pause, type Query, type Read } from "../../storage/transaction.ts";
import { DAY_MS, HOUR_MS } from "../../timing/clock.ts";
import { dayOf, endOfDay, type OffsetSpan, offsetsOf, startOfDay } from "../../timing/time-zones.ts";
import { timeZoneOf } from "../shops/shop-settings.store.ts";
import { MAX_DAYS, MAX_SALES, type Sales } from "./sales.operations.ts";
import { bytesOf, fit, fitsAnyhow, Ranking, Sums, sumsOf } from "./sales-sums.ts";

/** The span of a request, as the client sent it. */
interface SentSpan {
  readonly since?: string;
  readonly until?: string;
  readonly timeZone?: string;
}

/** Unix milliseconds; `until` is exclusive. */
interface Span {
  readonly since: number;
  readonly until: number;
}

/** The sales or returns of one day or hour with the same seller, category and currency. */
interface GroupRow extends Row {
  /** The number of days or hours since 1970 that the clocks of the zone showed. */
  unit: bigint;
  seller: string;
  category_id: bigint;
  /** Null without a price. */
  currency: string | null;
  orders: bigint;
  amount: bigint | null;
}
type PositionRow = IdRow & { at: bigint };
type CategoryRow = IdRow & { name: string };
type Position = [at: number | bigint, id: bigint];

/** How many orders one statement adds up. Others come first between two. */
const PIECE = 500;

const pieces = { sold: piecesBy("confirmed_at"), returned: piecesBy("returned_at") };

/** The statements of a piece of the sales or returns of a span, in the order of their times and ids. */
function piecesBy(column: "confirmed_at" | "returned_at") {
  const from = `FROM store_orders WHERE shop = $1 AND ${column} >= $2 AND (${column}, id) >= ($2, $3)`;
  return {
    /** Where the next piece begins; no row if this one is the last. */
    next: query<[shop: ShopNumber, ...Position, until: number], PositionRow>(
      `SELECT ${column} AS at, id ${from} AND ${column} < $4 ORDER BY ${column}, id LIMIT 1 OFFSET ${PIECE}`,
    ),
    groups: query<[shop: ShopNumber, ...Position, ...Position, offset: number, unit: number], GroupRow>(
      `SELECT (${column} + $6) / $7 AS unit, seller, category_id, currency, count(*) AS orders,
         CAST(sum(amount) AS BIGINT) AS amount
       ${from} AND ${column} <= $4 AND (${column}, id) < ($4, $5) GROUP BY 1, 2, 3, 4`,
    ),
  };
}

/**
 * A read: what a shop has sold, by default today. `now` is in Unix milliseconds. The lists of sellers and categories are
 * cut so that the response has at most so many bytes, which the days alone can exceed.
 */
export function* readSales(
  shop: ShopNumber,
  sent: SentSpan,
  now: number,
  bytes: number,
): Read<Sales | Failure<typeof invalidRequest>> {
  const timeZone = sent.timeZone ?? (yield* timeZoneOf(shop));
  const span = spanOf(sent, timeZone, now);
  if (isFailure(span)) return span;
  const { since, until } = span;
  const sums = new SalesSums(timeZone, span);
  if (!(yield* sums.read(shop))) return wrong("since", "must be later: there are too many sales");
  const { total, units } = sums;
  if (!total.isExact) return wrong("since", "must be later: the amounts are too large to be added");
  if (!fitsAnyhow(units.values())) return tooManyCurrencies;
  const figures = {
    since: timestampOf(since),
    until: timestampOf(until),
    timeZone,
    total: total.figures,
    ...sums.parts(),
  };
  const rest = bytesOf(figures) + 2 * bytesOf({ other: MAX_SALES, ...total.figures });
  if (rest > PAGE_BYTES) return tooManyCurrencies;
  yield* pause();
  const sellers = yield* Ranking.of(sums.bySeller, (name) => ({ name }));
  yield* pause();
  const names = new Map<bigint, string>();
  const categories = yield* Ranking.of(sums.byCategory, (categoryId) => {
    const name = names.get(categoryId);
    return name === undefined ? { categoryId } : { categoryId, name };
  });
  const ids = categories.largest.map(([categoryId]) => categoryId);
  for (const { id, name } of yield* namesOf("categories", shop, ids)) names.set(id, name);
  const others = ids.filter((id) => !names.has(id));
  for (const { id, name } of yield* namesOf("deleted_categories", shop, others)) names.set(id, name);
  yield* pause();
  fit(sellers, categories, bytes - rest);
  yield* pause();
  return { ...figures, sellers: sellers.entries, categories: categories.entries };
}

/** The sums of a span, by day or, within one day, by hour. */
class SalesSums {
  readonly total = new Sums();
  /** By number of days since 1970 or, within one day, by start of the hour in Unix milliseconds. */
  readonly units = new Map<number, Sums>();
  readonly bySeller = new Map<string, Sums>();
  readonly byCategory = new Map<bigint, Sums>();
  readonly #offsets: readonly OffsetSpan[];
  /** The day of the whole span; undefined if it has parts of several. */
  readonly #day: number | undefined;

  constructor(timeZone: string, { since, until }: Span) {
    this.#offsets = offsetsOf(timeZone, since, until);
    const [firstDay, lastDay] = [since, until - 1].map((time) => dayOf(timeZone, time));
    this.#day = since < until && firstDay === lastDay ? firstDay : undefined;
    for (const { start, end, offset } of this.#offsets) {
      const last = Math.floor((end - 1 + offset) / this.#length);
      for (let unit = Math.floor((start + offset) / this.#length); unit <= last; unit++)
        sumsOf(this.units, this.#keyOf(unit, start, offset));
    }
  }

  /** Part of a read: adds all sales and returns. False if there are too many. */
  *read(shop: ShopNumber): Read<boolean> {
    for (const kind of ["sold", "returned"] as const) {
      for (const { start, end, offset } of this.#offsets) {
        for (let from: Position | undefined = [start, 0n]; from; ) {
          const next: PositionRow | undefined = yield* first(pieces[kind].next, shop, ...from, end);
          const to: Position = next ? [next.at, next.id] : [end, 0n];
          for (const row of yield* all(pieces[kind].groups, shop, ...from, ...to, offset, this.#length)) {
            const unit = sumsOf(this.units, this.#keyOf(Number(row.unit), start, offset));
            for (const sums of [
              this.total,
              unit,
              sumsOf(this.bySeller, row.seller),
              sumsOf(this.byCategory, row.category_id),
            ])
              sums.add(kind, row);
          }
          if (this.total.counts[kind] > MAX_SALES) return false;
          from = next && to;
          if (from) yield* pause();
        }
      }
    }
    return true;
  }

  /** The lists of days and, within one day, of hours. */
  parts(): Pick<Sales, "days" | "hours"> {
    const entries = [...this.units].map(([key, { figures }]) => [key, figures] as const);
    if (this.#day === undefined)
      return { days: entries.map(([day, figures]) => Object.assign({ date: dateOf(day) }, figures)) };
    return {
      days: [{ date: dateOf(this.#day), ...this.total.figures }],
      hours: entries.map(([start, figures]) => Object.assign({ start: timestampOf(start) }, figures)),
    };
  }

  get #length(): number {
    return this.#day === undefined ? DAY_MS : HOUR_MS;
  }

  /** Where an offset ends, an hour of the clocks can begin twice. */
  #keyOf(unit: number, start: number, offset: number): number {
    return this.#day === undefined ? unit : Math.max(start, unit * HOUR_MS - offset);
  }
}

/** The span that a request means. */
function spanOf({ since, until }: SentSpan, timeZone: string, now: number) {
  const end = until === undefined ? (since === undefined ? endOfDay(timeZone, now) : now) : millisecondsOf(until);
  const start = since === undefined ? startOfDay(timeZone, until === undefined ? now : end - 1) : millisecondsOf(since);
  if (end < start)
    return until === undefined
      ? wrong("since", "must not be in the future without until")
      : wrong("until", "must not be before since");
  // The end of summer time adds an hour.
  if (end - start > MAX_DAYS * DAY_MS + HOUR_MS) return wrong("since", `must be at most ${MAX_DAYS} days before until`);
  return { since: start, until: end };
}

/** The failure for a wrong parameter. */
function wrong(parameter: keyof SentSpan, message: string) {
  return invalidInput([{ path: `/query/${parameter}`, message }]);
}

const tooManyCurrencies = wrong("since", "must be later: there are sales in too many currencies");

/** `YYYY-MM-DD`, for a number of days since 1970. */
function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** The names of those of these categories that are in a table. */
function* namesOf(
  from: "categories" | "deleted_categories",
  shop: ShopNumber,
  ids: readonly bigint[],
): Query<readonly CategoryRow[]> {
  if (ids.length === 0) return [];
  const parameters: SqlParameter[] = [shop];
  const isOne = isOneOf(ids)((value) => `$${parameters.push(value)}`);
  const named = cachedQuery<CategoryRow>(`SELECT id, name FROM ${from} WHERE shop = $1 AND ${isOne}`);
  return yield* all(named, ...parameters);
}
