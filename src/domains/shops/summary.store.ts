import { timestampOf } from "../../contract/schemas.ts";
import { query, type Row } from "../../storage/statement.ts";
import { all, type Query } from "../../storage/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import { dayOf, startOfDay } from "../../timing/time-zones.ts";
import { daily } from "./figures.ts";
import { CATEGORY_SCAN, MAX_CATEGORIES, type ShopSummary } from "./shops.operations.ts";
import { ShopDeleted } from "./shops.store.ts";

/** The figures of a shop and one of its categories. The columns of the category are null if the shop has none. */
interface FigureRow extends Row {
  time_zone: string;
  currency: string | null;
  animals_allowed: bigint | null;
  animals_available: bigint;
  animals_pending: bigint;
  animals_sold: bigint;
  animals_without_status: bigint;
  open_orders: bigint;
  added_count: bigint;
  added_day: bigint;
  sold_count: bigint;
  sold_day: bigint;
  marked_sold_count: bigint;
  marked_sold_day: bigint;
  expired_count: bigint;
  expired_day: bigint;
  returned_count: bigint;
  returned_day: bigint;
  counted_since: bigint;
  category_id: bigint | null;
  animals: bigint | null;
}

const days = daily.map((name) => `${name}_count, ${name}_day`).join(", ");
// One statement, so that all figures are consistent.
const figures = query<[shop: number], FigureRow>(`
  SELECT animals_available, animals_pending, animals_sold, animals_without_status, open_orders, ${days}, counted_since,
    time_zone, currency, animals_allowed, category_id, animals
  FROM shops LEFT JOIN (
    SELECT category_id, animals
    FROM (SELECT category_id, animals FROM category_animals WHERE shop = $1 ORDER BY category_id LIMIT ${CATEGORY_SCAN}) AS looked
    WHERE animals > 0 ORDER BY animals DESC, category_id LIMIT ${MAX_CATEGORIES}
  ) AS largest ON TRUE
  WHERE shop = $1 ORDER BY animals DESC, category_id
`);

/** The figures of shops. */
export class ShopSummaries {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws `ShopDeleted`. */
  *get(shop: number): Query<ShopSummary> {
    return toSummary(yield* all(figures, shop), this.#clock.now());
  }
}

/** `now` is in Unix milliseconds. */
function toSummary(rows: readonly FigureRow[], now: number): ShopSummary {
  const [row] = rows;
  if (!row) throw new ShopDeleted();
  const { time_zone: timeZone, currency, animals_allowed: allowed } = row;
  const today = dayOf(timeZone, now);
  const ofToday = (name: (typeof daily)[number]) =>
    Number(row[`${name}_day`]) === today ? Number(row[`${name}_count`]) : 0;
  const [available, pending, sold, withoutStatus] = [
    row.animals_available,
    row.animals_pending,
    row.animals_sold,
    row.animals_without_status,
  ].map(Number) as [number, number, number, number];
  return {
    timeZone,
    ...(currency !== null && { currency }),
    animals: { total: available + pending + sold + withoutStatus, available, pending, sold, withoutStatus },
    ...(allowed !== null && { animalsAllowed: Number(allowed) }),
    categories: rows.flatMap(({ category_id, animals }) =>
      category_id === null ? [] : [{ categoryId: category_id, animals: Number(animals) }],
    ),
    openOrders: Number(row.open_orders),
    today: {
      since: timestampOf(Math.max(startOfDay(timeZone, now), Number(row.counted_since))),
      added: ofToday("added"),
      sold: ofToday("sold"),
      markedSold: ofToday("marked_sold"),
      expired: ofToday("expired"),
      returned: ofToday("returned"),
    },
  };
}
