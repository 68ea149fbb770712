import { type Mode, modes, type ShopNumber } from "../../../contract/caller.ts";
import { inColumn, numberInColumn, rowMapping } from "../../../storage/row-mapping.ts";
import { acrossShops, change, type IdRow, query } from "../../../storage/statement.ts";
import { count, enumeration, insertInto, integer, optional, type RowOf, table, text } from "../../../storage/table.ts";
import type { DeliveryKind, EndpointPatch, EndpointState, NewEndpoint, RecordedEndpoint } from "../webhooks.schemas.ts";

/**
 * Endpoints of shops, by account and mode: they stay when the data of a sandbox is deleted. `types` are separated by
 * commas. `secrets` is JSON of `SecretVersion`s, the newest first, and `health` of the `Health` that has no column.
 * `position` is the last event of `followed_shop` that is dealt with: delivered, not wanted, or with its own row in
 * `webhook_attempts`. Of a disabled endpoint, it is the event before the first that it missed. `version` grows with each
 * saved progress and each change that a process must notice before it saves more. `waits_until` is when a failing endpoint
 * gets its next message.
 */
export const endpointTable = table(
  "webhook_endpoints",
  {
    account_id: text,
    mode: enumeration(...modes),
    id: text,
    url: text,
    types: text,
    description: text,
    state: enumeration("enabled", "paused", "disabled"),
    secrets: text,
    created_at: integer,
    followed_shop: integer,
    position: integer,
    last_delivery_id: count,
    last_redelivery_id: count,
    version: count,
    waits_until: optional(integer),
    failing_since: optional(integer),
    health: text,
    expires_at: optional(integer),
  },
  {
    key: ["account_id", "mode", "id"],
    owner: "account_id",
    isUpdatedOften: true,
    indices: { webhook_endpoints_by_expiry: { on: "expires_at", where: "state <> 'disabled'" } },
  },
);

export type EndpointRow = Omit<
  RowOf<typeof endpointTable>,
  "followed_shop" | "last_delivery_id" | "last_redelivery_id" | "version"
>;
/** An endpoint with the internal number of its shop. */
export type OwnedEndpointRow = EndpointRow & { shop: bigint };

/** What identifies an endpoint, and the same without its mode: the shop has one. */
export type Key = [accountId: string, mode: Mode, id: string];
export type KeyInShop = [shop: ShopNumber, endpointId: string];
/** The fields that are stored as they are sent. All of them are shown. */
type SentFields = Pick<RecordedEndpoint, Exclude<keyof (NewEndpoint & EndpointPatch), "paused" | "expiresAt">>;

/** What a client sets of an endpoint. */
export interface EndpointFields extends Readonly<SentFields> {
  readonly state: EndpointState;
  /** When it is disabled, in Unix milliseconds: with the key that set its URL. Null for never. */
  readonly expiresAt: number | null;
}
/** The columns that a client does not set. */
type OwnColumn =
  | "account_id"
  | "mode"
  | "id"
  | "secrets"
  | "created_at"
  | "position"
  | "health"
  | "failing_since"
  | "waits_until";
/** How it is kept in the row of the endpoint. */
export const endpointFields = rowMapping<EndpointFields, EndpointRow, Omit<EndpointRow, OwnColumn>>()(
  "webhook_endpoints",
  {
    url: inColumn("url"),
    types: { write: { types: (types) => types.join(",") }, read: ({ types }) => types.split(",") },
    description: inColumn("description"),
    state: inColumn("state"),
    expiresAt: numberInColumn("expires_at"),
  },
);
const listed = endpointFields.columns.filter((column) => column !== "state").join(", ");

/** The condition that selects an endpoint by its key. */
export const isOne = "account_id = $1 AND mode = $2 AND id = $3";
/** The columns of an `EndpointRow`. After a reset of the sandbox, the position is that in another log. */
export const endpointColumns = (state: string) =>
  `account_id, mode, id, ${listed}, ${state}, secrets, created_at, health, failing_since, waits_until,
     CASE WHEN followed_shop = shop THEN position ELSE 0 END AS position`;
const endpoints = `SELECT ${endpointColumns("state")} FROM webhook_endpoints JOIN shops USING (account_id, mode)`;

export const endpointById = query<Key, EndpointRow>(`${endpoints} WHERE ${isOne}`);
export const endpointsOfShop = query<[accountId: string, mode: Mode], EndpointRow>(
  `${endpoints} WHERE account_id = $1 AND mode = $2 ORDER BY created_at, id`,
);
/** The endpoints of all accounts, for operators. */
export const allEndpoints = acrossShops<[], OwnedEndpointRow>(
  `SELECT ${endpointColumns("state")}, shop FROM webhook_endpoints JOIN shops USING (account_id, mode)
   ORDER BY account_id, mode, created_at, id`,
);
const newColumns = [
  "account_id",
  "mode",
  "id",
  "secrets",
  "created_at",
  "followed_shop",
  "position",
  "health",
] as const;
export const insertEndpoint = insertInto(endpointTable, [...newColumns, ...endpointFields.columns]);
/** Restarts the deliveries. The next version makes the process that delivers read the endpoint again. */
export const restart = change<[health: string, ...Key]>(
  `UPDATE webhook_endpoints SET health = $1, failing_since = NULL, waits_until = NULL, version = version + 1
   WHERE account_id = $2 AND mode = $3 AND id = $4`,
);
/**
 * Skips the events of the shop `$1` up to `$2`. The endpoint may still follow the shop from before a reset. The next
 * version keeps a process with a test in progress from saving the position before.
 */
export const skipTo = change<[shop: ShopNumber, position: bigint, ...Key]>(
  `UPDATE webhook_endpoints SET followed_shop = $1, position = $2, version = version + 1
   WHERE account_id = $3 AND mode = $4 AND id = $5`,
);
/** Makes all events due that wait for an attempt. */
export const makeDue = change<[dueAt: number, ...KeyInShop]>(
  "UPDATE webhook_attempts SET due_at = $1 WHERE shop = $2 AND endpoint_id = $3 AND event_id > 0",
);
/**
 * Sends an event at this time, or a test. It replaces what waits for the same event, except a redelivery that was asked
 * for during the attempt before.
 */
export const setAttempt = change<[...KeyInShop, eventId: bigint, kind: DeliveryKind, attempt: number, dueAt: number]>(
  `INSERT INTO webhook_attempts (shop, endpoint_id, event_id, kind, attempt, due_at) VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (shop, endpoint_id, event_id)
     DO UPDATE SET kind = excluded.kind, attempt = excluded.attempt, due_at = excluded.due_at
     WHERE webhook_attempts.attempt >= excluded.attempt - 1`,
);
export const setSecrets = change<[secrets: string, ...Key]>(
  "UPDATE webhook_endpoints SET secrets = $1 WHERE account_id = $2 AND mode = $3 AND id = $4",
);
export const deleteEndpoint = change<Key>(`DELETE FROM webhook_endpoints WHERE ${isOne}`);
/** What deletes all that is stored of the deliveries of an endpoint. */
export const deletions = ["webhook_attempts", "webhook_redeliveries", "webhook_deliveries"].map((from) =>
  change<KeyInShop>(`DELETE FROM ${from} WHERE shop = $1 AND endpoint_id = $2`),
);
/** The redeliveries that are not at their end, and the single ones and tests that have not been sent. */
export const countRedeliveries = query<KeyInShop, { waiting: bigint }>(
  `SELECT (SELECT count(*) FROM webhook_redeliveries WHERE shop = $1 AND endpoint_id = $2)
     + (SELECT count(*) FROM webhook_attempts
        WHERE shop = $1 AND endpoint_id = $2 AND kind <> 'event' AND attempt = 1) AS waiting`,
);
/** Returns the id of the next redelivery or test. Ids are never reused: the message id of a test is derived from it. */
export const nextRedeliveryId = change<Key, IdRow>(
  `UPDATE webhook_endpoints SET last_redelivery_id = last_redelivery_id + 1
   WHERE account_id = $1 AND mode = $2 AND id = $3 RETURNING last_redelivery_id AS id`,
);
export const insertRedelivery = change<[...KeyInShop, id: bigint, position: bigint, lastEvent: bigint]>(
  `INSERT INTO webhook_redeliveries (shop, endpoint_id, id, position, last_event) VALUES ($1, $2, $3, $4, $5)`,
);
