import type { Mode } from "../../../contract/caller.ts";
import { accountTable, shopTable } from "../../../storage/owned-table.ts";
import { acrossShops, type Row, statement } from "../../../storage/statement.ts";
import type { EndpointState } from "../webhooks.schemas.ts";

export interface EndpointRow extends Row {
  account_id: string;
  mode: "live" | "test";
  id: string;
  url: string;
  /** Separated by commas. */
  types: string;
  description: string;
  state: EndpointState;
  /** JSON of `SecretVersion`s, the newest first. */
  secrets: string;
  created_at: bigint;
  /** JSON of `Health`. */
  health: string;
  /** Null for an endpoint that does not expire. */
  expires_at: bigint | null;
  /** How far the shop's clock is ahead of real time, in milliseconds. */
  ahead: bigint;
  /** The last event that is dealt with. Of a disabled endpoint: the event before the first that it missed. */
  position: bigint;
}
/** An endpoint with the internal number of its shop. */
export interface OwnedEndpointRow extends EndpointRow {
  shop: bigint;
}
interface CountRow extends Row {
  endpoints: bigint;
}
interface WaitingRow extends Row {
  waiting: bigint;
}
interface IdRow extends Row {
  id: bigint;
}

export const webhookShopTables = [
  shopTable("webhook_parked", "endpoint_id", "subject"),
  shopTable("webhook_redeliveries", "endpoint_id", "id"),
  shopTable("webhook_deliveries", "endpoint_id", "id"),
];
export const webhookAccountTables = [accountTable("webhook_endpoints", "mode", "id")];

/** What identifies an endpoint, and the same without its mode: the shop has one. */
export type Key = [accountId: string, mode: Mode, id: string];
export type KeyInShop = [shop: number, endpointId: string];
type NewEndpointValues = [url: string, types: string, description: string, secrets: string, createdAt: number];
type Fields = [url: string, types: string, description: string, state: EndpointState, expiresAt: number | null];

/** The condition that selects an endpoint by its key. */
export const isOne = "account_id = $1 AND mode = $2 AND id = $3";
/** A reset of the sandbox starts another log. */
const position = "CASE WHEN followed_shop = shop THEN position ELSE 0 END AS position";
const endpoints = `SELECT account_id, mode, id, url, types, description, state, secrets, created_at, health, expires_at, ahead,
     ${position}
   FROM webhook_endpoints JOIN shops USING (account_id, mode)`;

export const endpointById = statement<Key, EndpointRow>(`${endpoints} WHERE ${isOne}`);
export const endpointsOfShop = statement<[accountId: string, mode: Mode], EndpointRow>(
  `${endpoints} WHERE account_id = $1 AND mode = $2 ORDER BY created_at, id`,
);
/** The endpoints of all accounts, for operators. */
export const allEndpoints = acrossShops<[], OwnedEndpointRow>(
  `SELECT webhook_endpoints.account_id, webhook_endpoints.mode, id, url, types, description, state, secrets,
     created_at, health, expires_at, ahead, ${position}, shop
   FROM webhook_endpoints JOIN shops ON shops.account_id = webhook_endpoints.account_id
     AND shops.mode = webhook_endpoints.mode
   ORDER BY webhook_endpoints.account_id, webhook_endpoints.mode, created_at, id`,
);
export const countEndpoints = statement<[accountId: string, mode: Mode], CountRow>(
  "SELECT count(*) AS endpoints FROM webhook_endpoints WHERE account_id = $1 AND mode = $2",
);
export const insertEndpoint = statement<
  [...Key, ...NewEndpointValues, shop: number, position: bigint, health: string, expiresAt: number | null]
>(
  `INSERT INTO webhook_endpoints
     (account_id, mode, id, url, types, description, state, secrets, created_at, followed_shop, position, health,
      expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, 'enabled', $7, $8, $9, $10, $11, $12)`,
);
export const setEndpoint = statement<[...Fields, ...Key]>(
  `UPDATE webhook_endpoints SET url = $1, types = $2, description = $3, state = $4, expires_at = $5
   WHERE account_id = $6 AND mode = $7 AND id = $8`,
);
/** Restarts the deliveries: what waits is due at once. The next epoch (`owner`) makes the process that delivers reload it. */
export const restart = statement<[health: string, dueAt: number, ...Key]>(
  `UPDATE webhook_endpoints SET health = $1, blocked = 0, due_at = $2, owner = owner + 1
   WHERE account_id = $3 AND mode = $4 AND id = $5`,
);
/**
 * Skips the events of the shop `$1` up to `$2`. The endpoint may still follow the shop from before a reset. The next
 * epoch (`owner`) keeps a process with a test in progress from saving the position before.
 */
export const skipTo = statement<[shop: number, position: bigint, ...Key]>(
  `UPDATE webhook_endpoints SET followed_shop = $1, position = $2, owner = owner + 1
   WHERE account_id = $3 AND mode = $4 AND id = $5`,
);
export const makeParkedDue = statement<[dueAt: number, ...KeyInShop]>(
  "UPDATE webhook_parked SET due_at = $1 WHERE shop = $2 AND endpoint_id = $3",
);
export const setSecrets = statement<[secrets: string, ...Key]>(
  "UPDATE webhook_endpoints SET secrets = $1 WHERE account_id = $2 AND mode = $3 AND id = $4",
);
export const deleteEndpoint = statement<Key>(`DELETE FROM webhook_endpoints WHERE ${isOne}`);
export const deleteParked = statement<KeyInShop>("DELETE FROM webhook_parked WHERE shop = $1 AND endpoint_id = $2");
export const deleteRedeliveries = statement<KeyInShop>(
  "DELETE FROM webhook_redeliveries WHERE shop = $1 AND endpoint_id = $2",
);
export const countRedeliveries = statement<KeyInShop, WaitingRow>(
  "SELECT count(*) AS waiting FROM webhook_redeliveries WHERE shop = $1 AND endpoint_id = $2",
);
/** Returns the id of the next redelivery or test. Ids are never reused: the message id of a test is derived from it. */
export const nextRedeliveryId = statement<Key, IdRow>(
  `UPDATE webhook_endpoints SET last_redelivery_id = last_redelivery_id + 1
   WHERE account_id = $1 AND mode = $2 AND id = $3 RETURNING last_redelivery_id AS id`,
);
export const insertRedelivery = statement<[...KeyInShop, id: bigint, kind: string, from: bigint, to: bigint]>(
  `INSERT INTO webhook_redeliveries (shop, endpoint_id, id, kind, next_event, last_event)
   VALUES ($1, $2, $3, $4, $5, $6)`,
);
export const deleteDeliveries = statement<KeyInShop>(
  "DELETE FROM webhook_deliveries WHERE shop = $1 AND endpoint_id = $2",
);
