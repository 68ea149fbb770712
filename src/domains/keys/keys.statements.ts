import { type Caller, type Mode, modes, type Scope, shopNumber } from "../../contract/caller.ts";
import { type Failure, failure, invalidApiKey } from "../../contract/errors.ts";
import { inColumn, numberInColumn, plainRow, rowMapping, toNumber } from "../../storage/row-mapping.ts";
import { change, lookUp, query } from "../../storage/statement.ts";
import { count, enumeration, insertInto, integer, optional, type RowOf, table, text } from "../../storage/table.ts";
import { type PlanRow, toQuota } from "../accounts/accounts.statements.ts";
import type { ApiKey, NewKey } from "./keys.ts";

/**
 * `planned_end` is the end that a key got when it was created, and `expires_at` its current end, which a rotation makes
 * earlier. `banned_until` is the end of its last ban, and `bans` the number of its bans in a row.
 */
export const keyTable = table(
  "api_keys",
  {
    id: text,
    account_id: { ...text, references: "accounts (id)" },
    mode: enumeration(...modes),
    name: text,
    digest: text,
    hint: text,
    scopes: text,
    limit_per_minute: optional(integer),
    created_at: integer,
    planned_end: optional(integer),
    expires_at: optional(integer),
    revoked_at: optional(integer),
    last_used_at: optional(integer),
    banned_until: optional(integer),
    bans: count,
  },
  {
    key: ["id"],
    owner: "account_id",
    indices: {
      api_keys_by_digest: { on: "digest", unique: true },
      api_keys_by_account: { on: "account_id, created_at" },
    },
  },
);

export type KeyRow = Omit<RowOf<typeof keyTable>, "digest">;

/** `shop` is null if the account was deleted. */
type CallerRow = PlanRow & KeyRow & { shop: bigint | null; suspended_at: bigint | null };

type Position = [createdAt: number, id: string, limit: number];

/** The columns that a client does not set. */
type OwnColumn = "id" | "hint" | "created_at" | "expires_at" | "revoked_at" | "last_used_at" | "banned_until" | "bans";
/** How the properties of a new key are kept in its row. */
export const keyFields = rowMapping<NewKey, KeyRow, Omit<KeyRow, OwnColumn>>()("api_keys", {
  accountId: inColumn("account_id"),
  mode: inColumn("mode"),
  name: inColumn("name"),
  scopes: { write: { scopes: (scopes) => scopes.join(",") }, read: ({ scopes }) => scopesOf(scopes) },
  limitPerMinute: numberInColumn("limit_per_minute"),
  plannedEnd: numberInColumn("planned_end"),
});
const listed = Object.keys(keyTable.columns).filter((column) => column !== "digest");
const keyColumns = listed.join(", ");

const accountIsNotDeleted = "(SELECT deleted_at FROM accounts WHERE accounts.id = account_id) IS NULL";
export const keysOfAll = query<[], KeyRow>(
  `SELECT ${keyColumns} FROM api_keys WHERE ${accountIsNotDeleted} ORDER BY created_at, id`,
);
export const keysOfAccount = query<[accountId: string], KeyRow>(
  `SELECT ${keyColumns} FROM api_keys WHERE account_id = $1 AND ${accountIsNotDeleted} ORDER BY created_at, id`,
);
export const keysAfter = query<[accountId: string, ...Position], KeyRow>(
  `SELECT ${keyColumns} FROM api_keys WHERE account_id = $1 AND (created_at, id) > ($2, $3)
   ORDER BY created_at, id LIMIT $4`,
);
export const keysOfModeAfter = query<[accountId: string, mode: Mode, ...Position], KeyRow>(
  `SELECT ${keyColumns} FROM api_keys WHERE account_id = $1 AND mode = $2 AND (created_at, id) > ($3, $4)
   ORDER BY created_at, id LIMIT $5`,
);
export const validKeys = query<[accountId: string, mode: Mode, now: number], KeyRow>(
  `SELECT ${keyColumns} FROM api_keys
   WHERE account_id = $1 AND mode = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)
   ORDER BY created_at, id`,
);
export const countKeys = query<[accountId: string, mode: Mode], { keys: bigint }>(
  "SELECT count(*) AS keys FROM api_keys WHERE account_id = $1 AND mode = $2",
);
export const deleteEndedKeys = change<[accountId: string, mode: Mode, now: number, limit: number]>(
  `DELETE FROM api_keys WHERE id IN (
     SELECT id FROM api_keys WHERE account_id = $1 AND mode = $2 AND (revoked_at IS NOT NULL OR expires_at <= $3)
     ORDER BY created_at, id LIMIT $4
   )`,
);
export const ownerOfKey = query<[id: string], { account_id: string }>(
  `SELECT account_id FROM api_keys WHERE id = $1 AND ${accountIsNotDeleted}`,
);
export const keyById = query<[id: string], KeyRow>(`SELECT ${keyColumns} FROM api_keys WHERE id = $1`);
export const keyByDigest = lookUp<[digest: string], CallerRow>(
  (value) =>
    `SELECT ${listed.map((column) => `api_keys.${column}`).join(", ")}, plan, per_minute, per_day, suspended_at, shop
   FROM api_keys
     LEFT JOIN accounts ON accounts.id = api_keys.account_id
     LEFT JOIN shops ON shops.account_id = api_keys.account_id AND shops.mode = api_keys.mode
   WHERE digest = ${value(1)}`,
);
export const insertKey = insertInto(
  keyTable,
  ["id", "digest", "hint", "created_at", "expires_at", ...keyFields.columns],
  { end: `RETURNING ${keyColumns}` },
);
// A key that is already revoked keeps its time of revocation.
export const revoke = change<[at: number, id: string], KeyRow>(
  `UPDATE api_keys SET revoked_at = COALESCE(revoked_at, $1) WHERE id = $2 RETURNING ${keyColumns}`,
);
// A key that expires earlier does not change.
export const expire = change<[at: number, id: string, after: number]>(
  `UPDATE api_keys SET expires_at = $1 WHERE id = $2 AND (expires_at IS NULL OR expires_at > $3)`,
);
export const touch = change<[at: number, id: string, before: number]>(
  `UPDATE api_keys SET last_used_at = $1 WHERE id = $2 AND (last_used_at IS NULL OR last_used_at < $3)`,
);
export const ban = change<[until: number | null, bans: number, id: string]>(
  "UPDATE api_keys SET banned_until = $1, bans = $2 WHERE id = $3",
);

export function toApiKey(row: KeyRow): ApiKey {
  return { ...plainRow(row), ...keyFields.read(row, {}) };
}

/**
 * Who sends requests with the key of this digest, or why it is refused; undefined if the account was deleted. Only who
 * holds a key learns that it was valid once: nobody can guess one.
 */
export function toCaller(digest: string, row: CallerRow, now: number): Caller | Failure | undefined {
  if (row.shop === null) return undefined;
  const key = { keyId: row.id, accountId: row.account_id, shop: shopNumber(row.shop) };
  if (row.revoked_at !== null) return failure(invalidApiKey, "The API key was revoked.", { key });
  const expiresAt = toNumber(row.expires_at) ?? Number.POSITIVE_INFINITY;
  if (expiresAt <= now) return failure(invalidApiKey, "The API key has expired.", { key });
  const { perMinute, perDay } = toQuota(row);
  return {
    ...key,
    digest,
    name: row.name,
    mode: row.mode,
    scopes: scopeSet(row.scopes),
    limitPerMinute: toNumber(row.limit_per_minute),
    expiresAt,
    lastUsedAt: toNumber(row.last_used_at) ?? Number.NEGATIVE_INFINITY,
    bannedUntil: toNumber(row.banned_until),
    bans: Number(row.bans),
    isSuspended: row.suspended_at !== null,
    perMinute,
    perDay,
  };
}

/** A key may have none. */
function scopesOf(list: string): Scope[] {
  return list.split(",").filter(Boolean) as Scope[];
}

/** There are few combinations of scopes. Keys share their sets. */
const scopeSets = new Map<string, ReadonlySet<Scope>>();

function scopeSet(list: string): ReadonlySet<Scope> {
  return scopeSets.getOrInsertComputed(list, () => new Set(scopesOf(list)));
}
