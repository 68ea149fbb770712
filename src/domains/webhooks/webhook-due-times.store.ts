import type { Mode, ShopNumber } from "../../contract/caller.ts";
import { type DueTimes, type Waiting, type WaitingRow, waitingOf } from "../../contract/due-times.ts";
import { change, lockStatement, query } from "../../storage/statement.ts";
import { all, first } from "../../storage/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import { DISABLED_AFTER } from "./endpoints/endpoint-health.ts";
import { endpointsOfShop, setSecrets } from "./endpoints/endpoints.statements.ts";
import { toEndpoint } from "./endpoints/endpoints.store.ts";

const attemptsOf = "webhook_attempts WHERE shop = shops.shop AND endpoint_id = webhook_endpoints.id AND due_at > 0";
/** An endpoint that waits gets its first attempt afterwards. Tests, whose `due_at` is 0, do not count. */
const waitingAttempts = query<[shop: ShopNumber, limit: number], WaitingRow>(`
  SELECT
    (SELECT min(CASE WHEN waits_until > due_at THEN waits_until ELSE due_at END) FROM (
      SELECT waits_until, (SELECT min(due_at) FROM ${attemptsOf}) AS due_at
      FROM shops JOIN webhook_endpoints USING (account_id, mode) WHERE shops.shop = $1 AND state = 'enabled') AS open
    ) AS next,
    (SELECT count(*) FROM (
      SELECT 1 FROM shops JOIN webhook_endpoints USING (account_id, mode)
        JOIN webhook_attempts AS attempts ON attempts.shop = shops.shop AND endpoint_id = webhook_endpoints.id
      WHERE shops.shop = $1 AND state = 'enabled' AND due_at > 0 LIMIT $2) AS waiting
    ) AS count
`);
const bringEndpointsNearer = lockStatement<[accountId: string, mode: Mode, milliseconds: number]>(
  `UPDATE webhook_endpoints SET waits_until = waits_until - $3, failing_since = failing_since - $3
   WHERE account_id = $1 AND mode = $2`,
);
const bringAttemptsNearer = change<[milliseconds: number, shop: ShopNumber]>(
  "UPDATE webhook_attempts SET due_at = due_at - $1 WHERE shop = $2 AND due_at > 0",
);

/** Attempts that are due later, the end of the time after which a failing endpoint is disabled, and of replaced secrets. */
export function webhookDueTimes(clock: Clock): DueTimes {
  return {
    *waiting({ accountId, mode, shop }, most) {
      const endpoints = (yield* all(endpointsOfShop, accountId, mode)).map(toEndpoint);
      const failing = endpoints.filter(({ state }) => state === "enabled").map(({ health }) => health.failingSince);
      const disabling = failing.filter((since) => since !== null).map((since) => since + DISABLED_AFTER);
      const ends = endpoints.flatMap(({ secrets }) => secrets.map(({ endsAt }) => endsAt ?? 0));
      const ending = ends.filter((end) => end > clock.now());
      return [
        ...waitingOf("webhook_attempt", yield* first(waitingAttempts, shop, most)),
        ...timesOf("endpoint_disabling", disabling),
        ...timesOf("webhook_secret", ending),
      ];
    },

    *bringNearer({ accountId, mode, shop }, milliseconds) {
      yield* all(bringEndpointsNearer, accountId, mode, milliseconds);
      yield* all(bringAttemptsNearer, milliseconds, shop);
      for (const { id, secrets } of (yield* all(endpointsOfShop, accountId, mode)).map(toEndpoint)) {
        if (secrets.length === 1) continue;
        const nearer = secrets.map(({ version, keyId, endsAt }) => {
          return { version, keyId, endsAt: endsAt === null ? null : endsAt - milliseconds };
        });
        yield* all(setSecrets, JSON.stringify(nearer), accountId, mode, id);
      }
    },
  };
}

function timesOf(kind: Waiting["kind"], times: readonly number[]): Waiting[] {
  return times.length === 0 ? [] : [{ kind, count: times.length, next: Math.min(...times) }];
}
