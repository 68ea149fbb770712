import { banSchedule, nextBan, strikesForBan } from "../../contract/bans.ts";
import type { Handlers } from "../../contract/handler.ts";
import type { LimitReader } from "../../contract/limits.ts";
import { waitFor } from "../../storage/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import type { AccountStore } from "../accounts/accounts.store.ts";
import type { currentKeyOperations } from "./current-key.operations.ts";
import type { KeyStore } from "./keys.store.ts";
import { banOf, toApiKeyBody } from "./keys.ts";

/** The state of the calling key: its record and its account from the store, and its windows and strikes from the limiter. */
export function currentKeyHandlers(
  keys: KeyStore,
  accounts: AccountStore,
  limiter: LimitReader,
  clock: Clock,
): Handlers<typeof currentKeyOperations> {
  return {
    *getCurrentKey({ caller }) {
      const key = yield* keys.find(caller.keyId);
      const account = yield* accounts.get(caller.accountId);
      const { strikes, ...limits } = yield* waitFor(limiter.limitStatus(caller));
      if (!key || !account) throw new TypeError("A valid key has no record.");
      const now = clock.now();
      return {
        body: {
          ...toApiKeyBody(key),
          account: { id: account.id, name: account.name, plan: account.plan },
          limits,
          // After a change to a smaller plan, a key can have more strikes than cause a ban: the next one causes it.
          strikes: { count: strikes, untilBan: Math.max(1, strikesForBan(caller.perMinute) - strikes) },
          ...banOf(key, now),
          bans: { next: nextBan(key, now).seconds, ...banSchedule },
        },
      };
    },
  };
}
