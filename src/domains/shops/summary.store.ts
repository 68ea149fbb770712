import type { ShopNumber } from "../../contract/caller.ts";
import { timestampOf } from "../../contract/schemas.ts";
import { query } from "../../storage/statement.ts";
import { all, type Query } from "../../storage/transaction.ts";
import { dayOf, startOfDay } from "../../timing/time-zones.ts";
import type { AllFigures } from "./figures.ts";
import type { ShopSummary } from "./shops.operations.ts";
import { ShopDeleted } from "./shops.store.ts";

/** Reads the summary of a shop at a time in Unix milliseconds. Throws `ShopDeleted`. */
export type ReadSummary = (shop: ShopNumber, now: number) => Query<ShopSummary>;

/** What reads the summaries of shops, whose domains keep these figures. */
export function summaryOf({ columns, fields, today, joined }: AllFigures): ReadSummary {
  const own = ["time_zone", "currency", "counted_since", ...Object.keys(columns)];
  // One statement, so that all figures are consistent.
  const rowsOf = query<[shop: ShopNumber]>(`
    SELECT ${[...own, ...joined.map((one) => one.columns)].join(", ")}
    FROM shops ${joined.map(({ rows }) => `LEFT JOIN (${rows}) AS joined ON TRUE`).join("")}
    WHERE shop = $1 ${joined.map(({ order }) => `ORDER BY ${order}`).join("")}
  `);

  return function* (shop, now) {
    const [row, ...others] = yield* all(rowsOf, shop);
    if (!row) throw new ShopDeleted();
    const timeZone = row["time_zone"] as string;
    const day = dayOf(timeZone, now);
    const shown = Object.entries(fields).flatMap(([name, { read }]) => {
      const value = read([row, ...others]);
      return value === undefined ? [] : [[name, value]];
    });
    const counts = today.map(({ name, field }) => [
      field,
      Number(row[`${name}_day`]) === day ? Number(row[`${name}_count`]) : 0,
    ]);
    return {
      timeZone,
      ...(row["currency"] !== null && { currency: row["currency"] as string }),
      ...Object.fromEntries(shown),
      today: {
        since: timestampOf(Math.max(startOfDay(timeZone, now), Number(row["counted_since"]))),
        ...Object.fromEntries(counts),
      },
    };
  };
}
