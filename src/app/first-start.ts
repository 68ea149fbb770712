import { type ShopNumber, scopes } from "../contract/caller.ts";
import { anyAccount } from "../domains/accounts/accounts.statements.ts";
import type { AccountStore } from "../domains/accounts/accounts.store.ts";
import { operator } from "../domains/events/publish.ts";
import type { KeyStore } from "../domains/keys/keys.store.ts";
import type { IssuedKey } from "../domains/keys/keys.ts";
import { addSamples } from "../domains/samples.ts";
import { lockShopOf, shopOf } from "../domains/shops/shops.store.ts";
import type { Storage } from "../storage/storage.ts";
import { first } from "../storage/transaction.ts";

/**
 * If the store has no account, creates one on the Business plan, with sample animals in its sandbox and one key, which
 * it returns: all in one transaction.
 */
export async function firstStart(
  storage: Storage,
  accounts: AccountStore,
  keys: KeyStore,
): Promise<IssuedKey | undefined> {
  if (await storage.read(first(anyAccount))) return undefined;
  const now = Date.now();
  return storage.write(function* () {
    if (yield* first(anyAccount)) return undefined; // another process that started at the same time has created one
    const { id } = yield* accounts.create("First account", "business", undefined, now);
    const shop = (yield* shopOf(id, "test")) as ShopNumber; // not locked, which would begin its log now
    yield* addSamples(operator(shop), now, storage);
    const locked = yield* lockShopOf(id, "test", now);
    const key = {
      accountId: id,
      mode: "test",
      name: "First key",
      scopes,
      limitPerMinute: null,
      plannedEnd: null,
    } as const;
    return yield* keys.issue(locked, operator(shop), key, now);
  });
}
