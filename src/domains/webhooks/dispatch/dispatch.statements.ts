import type { ShopNumber } from "../../../contract/caller.ts";
import { acrossShops, change, lockStatement, query } from "../../../storage/statement.ts";
import { enumeration, insertInto, integer, type RowOf, table, text } from "../../../storage/table.ts";
import { deliveryTable } from "../deliveries/deliveries.store.ts";
import {
  type EndpointRow,
  endpointColumns,
  type endpointTable,
  isOne,
  type Key,
  type KeyInShop,
} from "../endpoints/endpoints.statements.ts";
import { deliveryKinds } from "../webhooks.schemas.ts";

/** What identifies an endpoint: the columns of its primary key. */
export type EndpointName = Pick<EndpointRow, "account_id" | "mode" | "id">;
/** The next attempt to send an event. A test has an `event_id` below 0. */
export const attemptTable = table(
  "webhook_attempts",
  {
    shop: integer,
    endpoint_id: text,
    event_id: integer,
    kind: enumeration(...deliveryKinds),
    attempt: integer,
    due_at: integer,
  },
  {
    key: ["shop", "endpoint_id", "event_id"],
    indices: { webhook_attempts_by_time: { on: "shop, endpoint_id, due_at" } },
  },
);
export const redeliveryTable = table(
  "webhook_redeliveries",
  { shop: integer, endpoint_id: text, id: integer, position: integer, last_event: integer },
  { key: ["shop", "endpoint_id", "id"] },
);

/** An endpoint with the progress of its deliveries. */
export type CourierRow = EndpointRow & {
  shop: bigint;
  last_event_id: bigint;
  version: bigint;
  /** The number of events that have a row in `webhook_attempts`. */
  attempts: bigint;
};
export type AttemptRow = Pick<RowOf<typeof attemptTable>, "event_id" | "kind" | "attempt">;
export type RedeliveryRow = Pick<RowOf<typeof redeliveryTable>, "id" | "position" | "last_event">;
type SavedRow = Pick<
  RowOf<typeof endpointTable>,
  "version" | "last_delivery_id" | "health" | "failing_since" | "waits_until"
>;
type VersionRow = { version: bigint };

const isSuspended =
  "EXISTS (SELECT 1 FROM accounts WHERE accounts.id = webhook_endpoints.account_id AND suspended_at IS NOT NULL)";
/** `isDue` as SQL. `$1` is the time, `$2` is `LONGEST_DELAY`. */
const isDue = (column: string) => `(${column} <= $1 OR ${column} > $1 + $2)`;
const ofEndpoint = (from: string) => `${from}.shop = shops.shop AND endpoint_id = webhook_endpoints.id`;

/** Endpoints of all shops that have something to deliver now, except those of suspended accounts. */
export const withWork = acrossShops<[now: number, longestDelay: number], EndpointName>(
  `SELECT account_id, mode, id FROM webhook_endpoints JOIN shops USING (account_id, mode)
   WHERE ((state = 'enabled' AND (waits_until IS NULL OR ${isDue("waits_until")})
       AND (followed_shop <> shop OR position < last_event_id
         OR EXISTS (SELECT 1 FROM webhook_redeliveries WHERE ${ofEndpoint("webhook_redeliveries")})
         OR EXISTS (SELECT 1 FROM webhook_attempts WHERE ${ofEndpoint("webhook_attempts")} AND ${isDue("due_at")})))
     OR EXISTS (SELECT 1 FROM webhook_attempts WHERE ${ofEndpoint("webhook_attempts")} AND event_id < 0))
     AND NOT ${isSuspended}`,
);
/** An endpoint of a suspended account is returned as paused. */
export const courierById = query<Key, CourierRow>(
  `SELECT ${endpointColumns(`CASE WHEN ${isSuspended} THEN 'paused' ELSE state END AS state`)}, shop, last_event_id,
     version, (SELECT count(*) FROM webhook_attempts WHERE ${ofEndpoint("webhook_attempts")} AND event_id > 0) AS attempts
   FROM webhook_endpoints JOIN shops USING (account_id, mode) WHERE ${isOne}`,
);
/** What is due, the first first; only tests unless `$5` is 1. */
export const dueAttempts = query<
  [now: number, longestDelay: number, ...KeyInShop, all: 0 | 1, limit: number],
  AttemptRow
>(
  `SELECT event_id, kind, attempt FROM webhook_attempts
   WHERE ${isDue("due_at")} AND shop = $3 AND endpoint_id = $4 AND (event_id < 0 OR $5 = 1) ORDER BY due_at LIMIT $6`,
);
export const redeliveriesOf = query<KeyInShop, RedeliveryRow>(
  "SELECT id, position, last_event FROM webhook_redeliveries WHERE shop = $1 AND endpoint_id = $2 ORDER BY id",
);

/** Returns a row unless the endpoint has another version, or the sandbox was reset. */
export const saveProgress = lockStatement<
  [shop: ShopNumber, position: bigint, deliveries: number, ...Key, version: bigint],
  SavedRow
>(
  `UPDATE webhook_endpoints SET followed_shop = $1, position = $2, last_delivery_id = last_delivery_id + $3,
     version = version + 1
   WHERE account_id = $4 AND mode = $5 AND id = $6 AND version = $7
     AND EXISTS (SELECT 1 FROM shops WHERE shops.shop = $1 AND shops.account_id IS NOT NULL)
   RETURNING version, last_delivery_id, health, failing_since, waits_until`,
);
export const saveHealth = change<[health: string, failingSince: number | null, waitsUntil: number | null, ...Key]>(
  `UPDATE webhook_endpoints SET health = $1, failing_since = $2, waits_until = $3
   WHERE account_id = $4 AND mode = $5 AND id = $6`,
);
export const insertDelivery = insertInto(deliveryTable, [
  "shop",
  "endpoint_id",
  "id",
  "kind",
  "webhook_id",
  "event_id",
  "event_type",
  "attempt",
  "at",
  "duration",
  "outcome",
  "failure",
  "status",
  "response",
]);
export const deleteDeliveriesUpTo = change<[...KeyInShop, id: bigint]>(
  "DELETE FROM webhook_deliveries WHERE shop = $1 AND endpoint_id = $2 AND id <= $3",
);
/** Ends an event after this attempt, unless a redelivery was asked for during it. */
export const deleteAttempt = change<[...KeyInShop, eventId: bigint, attempt: number]>(
  "DELETE FROM webhook_attempts WHERE shop = $1 AND endpoint_id = $2 AND event_id = $3 AND attempt >= $4",
);
export const deleteAttemptsOfEvents = change<KeyInShop>(
  "DELETE FROM webhook_attempts WHERE shop = $1 AND endpoint_id = $2 AND kind = 'event'",
);
export const saveRedelivery = change<[position: bigint, ...KeyInShop, id: bigint]>(
  "UPDATE webhook_redeliveries SET position = $1 WHERE shop = $2 AND endpoint_id = $3 AND id = $4",
);
export const deleteRedelivery = change<[...KeyInShop, id: bigint]>(
  "DELETE FROM webhook_redeliveries WHERE shop = $1 AND endpoint_id = $2 AND id = $3",
);
/**
 * The oldest event that waits for an attempt, or whose delivery failed after the last one that succeeded; null if there
 * is none. Tests do not count, as in the endpoint's health. A redelivery is no missed event, but its success counts.
 */
export const oldestUnaccepted = query<KeyInShop, { event_id: bigint | null }>(
  `SELECT min(event_id) AS event_id FROM (
     SELECT event_id FROM webhook_attempts WHERE shop = $1 AND endpoint_id = $2 AND kind = 'event'
     UNION ALL
     SELECT event_id FROM webhook_deliveries WHERE shop = $1 AND endpoint_id = $2 AND kind = 'event'
       AND id > (SELECT coalesce(max(id), 0) FROM webhook_deliveries
         WHERE shop = $1 AND endpoint_id = $2 AND outcome = 'succeeded' AND kind <> 'test')
   ) AS unaccepted`,
);
export const moveBackTo = change<[position: bigint, ...Key]>(
  `UPDATE webhook_endpoints SET position = $1
   WHERE account_id = $2 AND mode = $3 AND id = $4 AND position > $1`,
);
/** Endpoints of all shops that have expired by `$1`, in Unix milliseconds, and are not disabled yet. */
export const expiredEndpoints = acrossShops<[expiresAt: number], EndpointName>(
  `SELECT account_id, mode, id FROM webhook_endpoints JOIN shops USING (account_id, mode)
   WHERE expires_at <= $1 AND state <> 'disabled'`,
);
const disabling = `UPDATE webhook_endpoints SET state = 'disabled', version = version + 1, waits_until = NULL
   WHERE account_id = $1 AND mode = $2 AND id = $3`;
export const disableExpired = lockStatement<[...Key, now: number], VersionRow>(
  `${disabling} AND expires_at <= $4 AND state <> 'disabled' RETURNING version`,
);
export const disable = lockStatement<[...Key, version: bigint], VersionRow>(
  `${disabling} AND version = $4 AND state = 'enabled' RETURNING version`,
);
