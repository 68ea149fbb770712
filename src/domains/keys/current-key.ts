import type { Caller } from "../../contract/caller.ts";
import type { Limiter } from "../../http/interfaces.ts";
import { type Transaction, waitFor } from "../../storage/transaction.ts";
import type { AccountStore } from "../accounts/accounts.store.ts";
import type { CurrentKeyBody } from "./current-key.operations.ts";
import type { KeyStore } from "./keys.store.ts";
import { banOf, toApiKeyBody } from "./keys.ts";

/** The state of the calling key: its record from the store and its limits from the limiter. */
export class CurrentKey {
  readonly #keys: KeyStore;
  readonly #accounts: AccountStore;
  readonly #limiter: Limiter;

  constructor(keys: KeyStore, accounts: AccountStore, limiter: Limiter) {
    this.#keys = keys;
    this.#accounts = accounts;
    this.#limiter = limiter;
  }

  *of(caller: Caller): Transaction<CurrentKeyBody> {
    const key = yield* this.#keys.find(caller.keyId);
    const account = yield* this.#accounts.get(caller.accountId);
    const limitStatus = yield* waitFor(this.#limiter.limitStatus(caller));
    if (!key || !account) throw new TypeError("A valid key has no record.");
    const { minute, day, strikes, strikesForBan, banEnds, nextBan, banSchedule } = limitStatus;
    return {
      ...toApiKeyBody(key),
      account: { id: account.id, name: account.name, plan: account.plan },
      limits: { minute, day },
      // After a change to a smaller plan, a key can have more strikes than cause a ban: the next one causes it.
      strikes: { count: strikes, untilBan: Math.max(1, strikesForBan - strikes) },
      ...banOf(banEnds),
      bans: { next: nextBan, ...banSchedule },
    };
  }
}
