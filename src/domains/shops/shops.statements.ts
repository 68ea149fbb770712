import type { Mode } from "../../contract/caller.ts";
import { type Appended, acrossShops, change, lockStatement, query, type Row } from "../../storage/statement.ts";
import { allAnimals, animalTotals, localDay, ofDay } from "./figures.ts";

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
const setTime = "last_at = CASE WHEN last_at < $2 THEN $2 ELSE last_at END";
const locked = `last_at AS at, last_event_id, ${localDay("$2")} AS day`;
/** The row of the shop `$1`, if its data was not deleted. */
const isCurrent = "shop = $1 AND account_id IS NOT NULL";
export const lock = lockStatement<[shop: number, now: number], ShopRow>(
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
/** Counts new animals with their events: see `Append`. The amounts are those of `animalTotals`. */
export const countAnimals = lockStatement<[shop: number, now: number, animals: number, ...amounts: number[]], Appended>(
  `UPDATE shops SET ${setTime}, last_pet_id = last_pet_id + $3, last_event_id = last_event_id + $3,
     ${animalTotals.map((name, index) => `${name} = ${name} + $${index + 4}`).join(", ")},
     ${ofDay("added", localDay("$2"), "$3")}
   WHERE ${isCurrent} AND (animals_allowed IS NULL OR ${allAnimals} + $3 <= animals_allowed)
   RETURNING last_pet_id - $3 + 1 AS id, last_at AS at, last_event_id - $3 + 1 AS log_id`,
);
export const room = query<[shop: number], { allowed: bigint | null; animals: bigint }>(
  `SELECT animals_allowed AS allowed, ${allAnimals} AS animals FROM shops WHERE ${isCurrent}`,
);
export const setAllowed = change<[animals: number | null, accountId: string, mode: Mode]>(
  "UPDATE shops SET animals_allowed = CAST($1 AS BIGINT) WHERE account_id = $2 AND mode = $3",
);
const settings = "animals_allowed, time_zone, utc_offset, offset_until, next_offset, currency";
export const insert = change<[accountId: string, mode: Mode, animalsAllowed: number | null], NumberRow>(
  "INSERT INTO shops (account_id, mode, animals_allowed) VALUES ($1, $2, CAST($3 AS BIGINT)) RETURNING shop",
);
/** The same, with the settings of an older shop, `$3`. */
export const insertLike = change<[accountId: string, mode: Mode, older: number], NumberRow>(
  `INSERT INTO shops (account_id, mode, ${settings}) SELECT $1, $2, ${settings} FROM shops WHERE shop = $3 RETURNING shop`,
);
/** Ends a shop: nothing more can be written to it. `last_at` is then the real time of its end, `$1`. */
export const end = change<[now: number, shop: number]>(
  `UPDATE shops SET last_at = $1, former_account_id = account_id, account_id = NULL
   WHERE shop = $2 AND account_id IS NOT NULL`,
);
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
export const remove = change<[shop: number]>("DELETE FROM shops WHERE shop = $1 AND account_id IS NULL");
export const byAccount = query<[accountId: string, mode: Mode], NumberRow>(
  "SELECT shop FROM shops WHERE account_id = $1 AND mode = $2",
);
