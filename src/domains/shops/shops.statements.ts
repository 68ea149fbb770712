import { type Mode, modes, type ShopNumber } from "../../contract/caller.ts";
import { acrossShops, change, lockStatement, query, type Row } from "../../storage/statement.ts";
import { count, enumeration, integer, optional, table, text } from "../../storage/table.ts";
import { type AllFigures, localDay } from "./figures.ts";

/**
 * Shops, with what domains keep of them. Their data comes with the column `shop`, which is the first of every key and index, except in indexes for
 * background work across shops, which start with the time.
 *
 * A row counts the ids that the shop has given, and is the shop's lock: each change updates it first. Where `account_id`
 * is null, the account was deleted or its sandbox reset; `former_account_id` then names the former owner, and the rest is
 * removed in the background. `last_at` is the time of the last change, or when the shop was deleted.
 *
 * Statements know the time zone by `utc_offset` in milliseconds, which is that of the zone before `offset_until`;
 * `next_offset` is the one after it. `counted_since` is when the counts of a day begin, if that is not its start.
 */
export function shopTable({ columns }: AllFigures) {
  return table(
    "shops",
    {
      shop: integer,
      account_id: optional(text),
      former_account_id: optional(text),
      mode: enumeration(...modes),
      last_event_id: count,
      last_at: count,
      time_zone: { ...text, fallback: "UTC" },
      utc_offset: count,
      offset_until: optional(integer),
      next_offset: count,
      currency: optional(text),
      counted_since: count,
      ...columns,
    },
    {
      key: ["shop"],
      isNumbered: true,
      isUpdatedOften: true,
      indices: {
        shops_by_account: { on: "account_id, mode", unique: true },
        shops_by_offset: { on: "offset_until", where: "offset_until IS NOT NULL" },
      },
    },
  );
}

export interface ShopRow extends Row {
  /** The time of the change that locks the shop, in Unix milliseconds. */
  at: bigint;
  last_event_id: bigint;
  /** The day of the shop's time zone, in days since 1970. */
  day: bigint;
}
export interface FoundShopRow extends ShopRow {
  shop: bigint;
}
type NumberRow = { shop: bigint };

/** Sets the time of a change: `$2` in Unix milliseconds, unless the last change has a later one. */
export const setTime = "last_at = CASE WHEN last_at < $2 THEN $2 ELSE last_at END";
const locked = `last_at AS at, last_event_id, ${localDay("$2")} AS day`;
/** The row of the shop `$1`, if its data was not deleted. */
export const isCurrent = "shop = $1 AND account_id IS NOT NULL";
export const lock = lockStatement<[shop: ShopNumber, now: number], ShopRow>(
  `UPDATE shops SET ${setTime} WHERE ${isCurrent} RETURNING ${locked}`,
);
export const lockByAccount = lockStatement<[accountId: string, now: number, mode: Mode], FoundShopRow>(
  `UPDATE shops SET ${setTime} WHERE account_id = $1 AND mode = $3
   RETURNING shop, ${locked}`,
);
export const lockByKey = lockStatement<[accountId: string, now: number, keyId: string], FoundShopRow>(
  `UPDATE shops SET ${setTime}
   WHERE account_id = $1 AND mode = (SELECT mode FROM api_keys WHERE id = $3 AND account_id = $1)
   RETURNING shop, ${locked}`,
);
const settings = "time_zone, utc_offset, offset_until, next_offset, currency";
export const insert = change<[accountId: string, mode: Mode]>("INSERT INTO shops (account_id, mode) VALUES ($1, $2)");
/** The same, with the settings of an older shop, `$3`. */
export const insertLike = change<[accountId: string, mode: Mode, older: number], NumberRow>(
  `INSERT INTO shops (account_id, mode, ${settings}) SELECT $1, $2, ${settings} FROM shops WHERE shop = $3 RETURNING shop`,
);
/** Ends a shop: nothing more can be written to it. `last_at` is then the real time of its end, `$1`. */
export const end = change<[now: number, shop: ShopNumber]>(
  `UPDATE shops SET last_at = $1, former_account_id = account_id, account_id = NULL
   WHERE shop = $2 AND account_id IS NOT NULL`,
);
/** The same for all shops of an account. */
export const endAll = change<[now: number, accountId: string]>(
  "UPDATE shops SET last_at = $1, former_account_id = account_id, account_id = NULL WHERE account_id = $2",
);
/** A shop that ended at `$1` or earlier. Also one that ended after `$2`: the clock was ahead then. */
export const deletedShop = acrossShops<[before: number, after: number], NumberRow>(
  `SELECT shop, last_at FROM shops WHERE account_id IS NULL AND (last_at <= $1 OR last_at > $2)
   ORDER BY shop LIMIT 1`,
);
/** The first condition is true for all of these shops. It lets the engines use the index by account. */
export const deletedShopOfAccount = acrossShops<[formerAccountId: string], NumberRow>(
  "SELECT shop FROM shops WHERE account_id IS NULL AND former_account_id = $1 LIMIT 1",
);
/** When shops with a number above `$1` were last changed. */
export const timesOfShops = acrossShops<
  [after: number, limit: number],
  { shop: bigint; account_id: string; last_at: bigint }
>(
  `SELECT shop, account_id, last_at FROM shops WHERE shop > $1 AND account_id IS NOT NULL
   ORDER BY shop LIMIT $2`,
);
/** When any shop was last changed. */
export const lastChange = acrossShops<[], { at: bigint | null }>("SELECT MAX(last_at) AS at FROM shops");
export const remove = change<[shop: ShopNumber]>("DELETE FROM shops WHERE shop = $1 AND account_id IS NULL");
export const byAccount = query<[accountId: string, mode: Mode], NumberRow>(
  "SELECT shop FROM shops WHERE account_id = $1 AND mode = $2",
);
