import { type DueTimes, type WaitingRow, waitingOf } from "../../contract/due-times.ts";
import { change, query } from "../../storage/statement.ts";
import { all, first } from "../../storage/transaction.ts";
import { type AccountListener, noteAccountChange } from "../accounts/account-changes.store.ts";
import type { Host } from "../domain.ts";

const count = query<[accountId: string, now: number], WaitingRow>(
  `SELECT count(*) AS count, min(banned_until) AS next FROM api_keys
   WHERE account_id = $1 AND mode = 'test' AND banned_until > $2`,
);
// Also those that have ended: a day later, the next ban is a first one.
const bringNearer = change<[milliseconds: number, accountId: string]>(
  `UPDATE api_keys SET banned_until = banned_until - $1
   WHERE account_id = $2 AND mode = 'test' AND banned_until IS NOT NULL RETURNING id`,
);

/** The bans of test keys. `changed` is called after each change of keys. */
export function sandboxBans({ storage, clock }: Pick<Host, "storage" | "clock">, changed: AccountListener): DueTimes {
  return {
    *waiting({ accountId }) {
      return waitingOf("ban", yield* first(count, accountId, clock.now()));
    },
    *bringNearer({ accountId }, milliseconds) {
      const keys = yield* all(bringNearer, milliseconds, accountId);
      if (keys.length > 0) yield* noteAccountChange(accountId, changed);
    },
    finish: () => storage.changesPropagated(),
  };
}
