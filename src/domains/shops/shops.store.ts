import { type Mode, modes, type ShopName, type ShopNumber, shopNumber } from "../../contract/caller.ts";
import { StorageUnavailable } from "../../storage/errors.ts";
import { all, type Change, first, type Query } from "../../storage/transaction.ts";
import { type LockedShop, lockedShop } from "./locked-shop.ts";
import {
  byAccount,
  end,
  insert,
  insertLike,
  lock,
  lockByAccount,
  lockByKey,
  type ShopRow,
} from "./shops.statements.ts";

/** The data of the shop was deleted while a change was waiting. Nothing was changed. */
export class ShopDeleted extends StorageUnavailable {
  constructor() {
    super("The data of the shop was deleted.");
  }
}

/**
 * The first step of a transaction that reads or writes the shop: waits for other changes of the shop, and returns the
 * time of this one. `now` is real time in Unix milliseconds. Throws `ShopDeleted`.
 */
export function* lockShop(shop: ShopNumber, now: number): Change<LockedShop> {
  const row = yield* first(lock, shop, now);
  if (!row) throw new ShopDeleted();
  return toLocked(shop, now, row);
}

/** Like `lockShop`, for the shop of an account that exists. */
export function* lockShopOf(accountId: string, mode: Mode, now: number): Change<LockedShop> {
  const row = yield* first(lockByAccount, accountId, now, mode);
  if (!row) throw new ShopDeleted();
  return toLocked(shopNumber(row.shop), now, row);
}

/** Like `lockShopOf`, for the shop of a key. Undefined if the account has no such key, or the shop was deleted. */
export function* lockShopOfKey(accountId: string, keyId: string, now: number): Change<LockedShop | undefined> {
  const row = yield* first(lockByKey, accountId, now, keyId);
  return row && toLocked(shopNumber(row.shop), now, row);
}

function toLocked(shop: ShopNumber, now: number, { at, last_event_id, day }: ShopRow): LockedShop {
  return lockedShop({ shop, at: Number(at), now, day, lastEventId: last_event_id, changes: new Map() });
}

/** Part of a transaction: makes the shops of a new account, one for each mode. */
export function* createShops(accountId: string): Change<void> {
  for (const mode of modes) yield* all(insert, accountId, mode);
}

/** The number of an account's shop; undefined if there is no such account. */
export function* shopOf(accountId: string, mode: Mode): Query<ShopNumber | undefined> {
  const row = yield* first(byAccount, accountId, mode);
  return row && shopNumber(row.shop);
}

/** The number of the shop that an account has now. Throws `ShopDeleted`. */
export function* currentShop({ accountId, mode }: ShopName): Query<ShopNumber> {
  const shop = yield* shopOf(accountId, mode);
  if (shop === undefined) throw new ShopDeleted();
  return shop;
}

/** Part of a transaction: replaces a shop with an empty one that has its settings, and returns its number. `now` is real time. */
export function* replaceShop({ shop }: LockedShop, { accountId, mode }: ShopName, now: number): Change<ShopNumber> {
  yield* all(end, now, shop);
  return shopNumber((yield* first(insertLike, accountId, mode, shop))?.shop as bigint);
}

/**
 * The first step of a transaction: locks all shops of an account. Every transaction locks in this order: the test shop, the
 * live shop, keys, `noteAccountChange`, accounts. On PostgreSQL, the third is a lock for the whole store, so no transaction
 * may wait for a shop afterwards.
 */
export function* lockShops(accountId: string, now: number): Change<void> {
  for (const mode of modes.toReversed()) yield* all(lockByAccount, accountId, now, mode);
}
