import { lockStatement, type Row, statement } from "../../storage/storage.ts";

export interface ShopRow extends Row {
  /** The time of the change that locks the shop, by the shop's clock, in unix milliseconds. */
  at: bigint;
  /** How far the shop's clock is ahead of real time, in milliseconds. */
  ahead: bigint;
}
interface NumberRow extends Row {
  shop: bigint;
}

/** Sets the time of a change: `$1` is real time in unix milliseconds. The times of a shop never decrease. */
export const setTime = "last_at = CASE WHEN last_at < $1 + ahead THEN $1 + ahead ELSE last_at END";
/** The row of a shop, `$2`, whose data was not deleted. */
export const isCurrent = "shop = $2 AND account_id IS NOT NULL";

export const lock = lockStatement<ShopRow>(
  `UPDATE shops SET ${setTime} WHERE ${isCurrent} RETURNING last_at AS at, ahead`,
);
export const insert = statement<NumberRow>("INSERT INTO shops (account_id, mode) VALUES ($1, $2) RETURNING shop");
export const byAccount = statement<NumberRow>("SELECT shop FROM shops WHERE account_id = $1 AND mode = $2");
