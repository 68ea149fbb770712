import { type Mode, modes } from "../../contract/operation.ts";
import { all, first, type Storage, StorageUnavailable, type Transaction } from "../../storage/storage.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import { byAccount, insert, lock } from "./shops.statements.ts";

/** The data of the shop was deleted while a change of it was waiting. Nothing was changed. */
export class ShopDeleted extends StorageUnavailable {
  constructor() {
    super("The data of the shop was deleted.");
  }
}

/** A shop that a transaction has locked. */
export interface LockedShop {
  readonly shop: number;
  /** The time of the change by the shop's clock, in unix milliseconds. */
  readonly at: number;
  /** How far the shop's clock is ahead of real time, in milliseconds. */
  readonly ahead: number;
}

/**
 * Part of a transaction, before it reads or writes anything of the shop: waits for other changes of the shop, and tells
 * the time of this one. `now` is real time in unix milliseconds. Throws `ShopDeleted`.
 */
export function* lockShop(shop: number, now: number): Transaction<LockedShop> {
  const row = yield* first(lock, now, shop);
  if (!row) throw new ShopDeleted();
  return { shop, at: Number(row.at), ahead: Number(row.ahead) };
}

/** Part of a transaction: makes the shops of a new account, one for each mode. */
export function* createShops(accountId: string): Transaction<void> {
  for (const mode of modes) yield* all(insert, accountId, mode);
}

/** The number of an account's shop; undefined where there is no such account. */
export function shopOf(storage: Storage, accountId: string, mode: Mode): MaybePromise<number | undefined> {
  return whenReady(storage.first(byAccount, accountId, mode), (row) => row && Number(row.shop));
}

/** Part of a transaction: the number of the shop of an account that exists. */
export function* shopIn(accountId: string, mode: Mode): Transaction<number> {
  return Number((yield* first(byAccount, accountId, mode))?.shop);
}
