import { acrossShops, lockStatement, type Row, statement } from "../../../storage/statement.ts";
import { type EndpointRow, isOne, type Key, type KeyInShop } from "../endpoints/endpoints.statements.ts";
import { isOfEvents } from "./sequences.ts";

/** What identifies an endpoint: the columns of its primary key. */
export interface EndpointName extends Row {
  account_id: string;
  mode: "live" | "test";
  id: string;
}
/** An endpoint with the progress of its deliveries. */
export interface CourierRow extends EndpointRow {
  /** The internal number of its shop, and that of the shop that `position` belongs to: a reset changes the first. */
  shop: bigint;
  followed_shop: bigint;
  last_event_id: bigint;
  position: bigint;
  last_delivery_id: bigint;
  /** Stored as `owner`. It grows with each takeover, and only the process with the newest one may write (a fencing token). */
  epoch: bigint;
  due_at: bigint | null;
}
interface OldestRow extends Row {
  event_id: bigint | null;
}
interface EpochRow extends Row {
  epoch: bigint;
}
export interface ParkedRow extends Row {
  /** The sequence. */
  subject: string;
  event_id: bigint;
  attempts: bigint;
  due_at: bigint;
}
export interface RedeliveryRow extends Row {
  id: bigint;
  kind: "range" | "single" | "test";
  next_event: bigint;
  last_event: bigint;
}

type Progress = [
  shop: number,
  position: bigint,
  lastDeliveryId: bigint,
  blocked: 0 | 1,
  dueAt: number | null,
  health: string,
];
type Sequence = [...KeyInShop, sequence: string];
type Message = [id: bigint, kind: string, webhookId: string, eventId: bigint | null, type: string];
type Attempt = [number: number, at: number, duration: number];
type Outcome = [outcome: string, failure: string | null, status: number | null, response: string | null];

const isSuspended =
  "EXISTS (SELECT 1 FROM accounts WHERE accounts.id = webhook_endpoints.account_id AND suspended_at IS NOT NULL)";

/**
 * Endpoints of all shops that have something to deliver now, except those of suspended accounts. `$1` is real time in
 * Unix milliseconds, `$2` is `LONGEST_DELAY`: what is due later than that is due now, as in `isDue`.
 */
export const withWork = acrossShops<[now: number, longestDelay: number], EndpointName>(
  `SELECT account_id, mode, id FROM webhook_endpoints JOIN shops USING (account_id, mode)
   WHERE ((state = 'enabled'
       AND (followed_shop <> shop OR (blocked = 0 AND position < last_event_id)
         OR due_at <= $1 + ahead OR due_at > $1 + ahead + $2))
     OR EXISTS (SELECT 1 FROM webhook_redeliveries WHERE webhook_redeliveries.shop = shops.shop
       AND endpoint_id = webhook_endpoints.id AND (kind = 'test' OR (state = 'enabled' AND blocked = 0))))
     AND NOT ${isSuspended}`,
);
/** An endpoint of a suspended account is returned as paused. */
export const courierById = statement<Key, CourierRow>(
  `SELECT account_id, mode, id, url, types, description,
     CASE WHEN ${isSuspended} THEN 'paused' ELSE state END AS state, secrets, created_at, health, expires_at, ahead, shop,
     followed_shop, last_event_id, position, last_delivery_id, owner AS epoch, due_at
   FROM webhook_endpoints JOIN shops USING (account_id, mode) WHERE ${isOne}`,
);
/** Takes over the deliveries of an endpoint: the process that delivered to it before can save nothing more. */
export const takeOver = lockStatement<Key, EpochRow>(
  `UPDATE webhook_endpoints SET owner = owner + 1 WHERE ${isOne} RETURNING owner AS epoch`,
);
export const parkedOf = statement<KeyInShop, ParkedRow>(
  "SELECT subject, event_id, attempts, due_at FROM webhook_parked WHERE shop = $1 AND endpoint_id = $2",
);
export const redeliveriesOf = statement<KeyInShop, RedeliveryRow>(
  `SELECT id, kind, next_event, last_event FROM webhook_redeliveries
   WHERE shop = $1 AND endpoint_id = $2 ORDER BY id`,
);

/** Returns a row unless another process has taken over the deliveries or the sandbox was reset. */
export const savePosition = lockStatement<[...Progress, ...Key, epoch: bigint], EpochRow>(
  `UPDATE webhook_endpoints SET followed_shop = $1, position = $2, last_delivery_id = $3, blocked = $4, due_at = $5,
     health = $6
   WHERE account_id = $7 AND mode = $8 AND id = $9 AND owner = $10
     AND EXISTS (SELECT 1 FROM shops WHERE shops.shop = $1 AND shops.account_id IS NOT NULL)
   RETURNING owner AS epoch`,
);
export const park = statement<[...Sequence, eventId: bigint, attempts: number, dueAt: number]>(
  `INSERT INTO webhook_parked (shop, endpoint_id, subject, event_id, attempts, due_at) VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (shop, endpoint_id, subject)
     DO UPDATE SET event_id = excluded.event_id, attempts = excluded.attempts, due_at = excluded.due_at`,
);
export const unpark = statement<Sequence>(
  "DELETE FROM webhook_parked WHERE shop = $1 AND endpoint_id = $2 AND subject = $3",
);
export const unparkEvents = statement<KeyInShop>(
  `DELETE FROM webhook_parked WHERE shop = $1 AND endpoint_id = $2 AND ${isOfEvents}`,
);
export const insertDelivery = statement<[...KeyInShop, ...Message, ...Attempt, ...Outcome]>(
  `INSERT INTO webhook_deliveries (shop, endpoint_id, id, kind, webhook_id, event_id, event_type, attempt, at, duration,
     outcome, failure, status, response)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
   ON CONFLICT (shop, endpoint_id, id) DO NOTHING`,
);
export const deleteDeliveriesUpTo = statement<[...KeyInShop, id: bigint]>(
  "DELETE FROM webhook_deliveries WHERE shop = $1 AND endpoint_id = $2 AND id <= $3",
);
export const saveRedelivery = statement<[next: bigint, ...KeyInShop, id: bigint]>(
  "UPDATE webhook_redeliveries SET next_event = $1 WHERE shop = $2 AND endpoint_id = $3 AND id = $4",
);
export const deleteRedelivery = statement<[...KeyInShop, id: bigint]>(
  "DELETE FROM webhook_redeliveries WHERE shop = $1 AND endpoint_id = $2 AND id = $3",
);
/**
 * The oldest event that waits for a retry, or whose delivery failed after the last one that succeeded; null if there is
 * none. Tests do not count, as in the endpoint's health. A redelivery is no missed event, but its success counts.
 */
export const oldestUnaccepted = statement<KeyInShop, OldestRow>(
  `SELECT min(event_id) AS event_id FROM (
     SELECT event_id FROM webhook_parked WHERE shop = $1 AND endpoint_id = $2 AND ${isOfEvents}
     UNION ALL
     SELECT event_id FROM webhook_deliveries WHERE shop = $1 AND endpoint_id = $2 AND kind = 'event'
       AND id > (SELECT coalesce(max(id), 0) FROM webhook_deliveries
         WHERE shop = $1 AND endpoint_id = $2 AND outcome = 'succeeded' AND kind <> 'test')
   ) AS unaccepted`,
);
export const moveBackTo = statement<[position: bigint, ...Key]>(
  `UPDATE webhook_endpoints SET position = $1
   WHERE account_id = $2 AND mode = $3 AND id = $4 AND position > $1`,
);
/** Endpoints of all shops that have expired by `$1`, in Unix milliseconds, and are not disabled yet. */
export const expiredEndpoints = acrossShops<[expiresAt: number], EndpointName>(
  `SELECT account_id, mode, id FROM webhook_endpoints JOIN shops USING (account_id, mode)
   WHERE expires_at <= $1 AND state <> 'disabled'`,
);
export const disableExpired = lockStatement<[...Key, now: number], EpochRow>(
  `UPDATE webhook_endpoints SET state = 'disabled', owner = owner + 1, due_at = NULL, blocked = 0
   WHERE account_id = $1 AND mode = $2 AND id = $3 AND expires_at <= $4 AND state <> 'disabled' RETURNING owner AS epoch`,
);
export const disable = lockStatement<[...Key, epoch: bigint], EpochRow>(
  `UPDATE webhook_endpoints SET state = 'disabled', owner = owner + 1, due_at = NULL, blocked = 0
   WHERE account_id = $1 AND mode = $2 AND id = $3 AND owner = $4 AND state = 'enabled' RETURNING owner AS epoch`,
);
