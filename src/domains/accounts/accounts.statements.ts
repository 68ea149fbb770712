import type { Mode, Quota } from "../../contract/caller.ts";
import { change, query } from "../../storage/statement.ts";
import { count, integer, optional, type RowOf, table, text } from "../../storage/table.ts";
import type { Account } from "./accounts.ts";
import { animalsAllowed, type Plan, plans } from "./accounts.ts";

const positive = (column: string) => optional({ ...integer, check: `${column} > 0` });

/**
 * An account with `deleted_at` is gone for clients; what is left of it is removed in the background. The keys of one with
 * `suspended_at` may do nothing until it is resumed. `changed`: see `noteAccountChange`.
 */
export const accountTable = table(
  "accounts",
  {
    id: text,
    name: text,
    plan: text,
    per_minute: positive("per_minute"),
    per_day: positive("per_day"),
    animals: positive("animals"),
    created_at: integer,
    deleted_at: optional(integer),
    suspended_at: optional(integer),
    changed: count,
  },
  { key: ["id"], indices: { accounts_by_change: { on: "changed" } } },
);

export type AccountRow = Omit<RowOf<typeof accountTable>, "changed">;
/** The columns of an account's quota. */
export type PlanRow = Pick<AccountRow, "plan" | "per_minute" | "per_day">;
type Agreed = [perMinute: number | null, perDay: number | null, animals: number | null];
type IdRow = { id: string };

const newColumns = "id, name, plan, per_minute, per_day, animals, created_at";
const accountColumns = `${newColumns}, deleted_at, suspended_at`;

export const allAccounts = query<[], AccountRow>(`SELECT ${accountColumns} FROM accounts ORDER BY created_at, id`);
export const anyAccount = query<[], IdRow>("SELECT id FROM accounts LIMIT 1");
export const accountById = query<[id: string], AccountRow>(`SELECT ${accountColumns} FROM accounts WHERE id = $1`);
export const insertAccount = change<[id: string, name: string, plan: Plan, ...Agreed, createdAt: number], AccountRow>(
  `INSERT INTO accounts (${newColumns}) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${accountColumns}`,
);
export const updateName = change<[name: string, id: string], AccountRow>(
  `UPDATE accounts SET name = $1 WHERE id = $2 AND deleted_at IS NULL RETURNING ${accountColumns}`,
);
export const updatePlan = change<[plan: Plan, ...Agreed, id: string], AccountRow>(
  `UPDATE accounts SET plan = $1, per_minute = $2, per_day = $3, animals = $4 WHERE id = $5 AND deleted_at IS NULL RETURNING ${accountColumns}`,
);
/** Sets how many animals the shop of an account may hold; null for any number. */
export const setAllowed = change<[accountId: string, mode: Mode, animals: number | null]>(
  "UPDATE shops SET animals_allowed = CAST($3 AS BIGINT) WHERE account_id = $1 AND mode = $2",
);

/** Suspends an account. An account that is already suspended keeps its time of suspension. */
export const suspend = change<[at: number, id: string], AccountRow>(
  `UPDATE accounts SET suspended_at = COALESCE(suspended_at, $1) WHERE id = $2 AND deleted_at IS NULL RETURNING ${accountColumns}`,
);
export const resume = change<[id: string], AccountRow>(
  `UPDATE accounts SET suspended_at = NULL WHERE id = $1 AND deleted_at IS NULL RETURNING ${accountColumns}`,
);
/** Deletes an account. An account that is already deleted keeps its time of deletion. */
export const markDeleted = change<[at: number, id: string], AccountRow>(
  `UPDATE accounts SET deleted_at = COALESCE(deleted_at, $1) WHERE id = $2 RETURNING ${accountColumns}`,
);
/** Reads all accounts: there is no index of the few that are deleted. */
export const deletedAccounts = query<[], IdRow & { deleted_at: bigint }>(
  "SELECT id, deleted_at FROM accounts WHERE deleted_at IS NOT NULL ORDER BY deleted_at",
);
export const clearAccountName = change<[id: string]>("UPDATE accounts SET name = '' WHERE id = $1");
export const removeAccount = change<[id: string]>("DELETE FROM accounts WHERE id = $1");

export function toQuota({ plan, per_minute, per_day }: PlanRow): Quota {
  const quota = plans[plan as Plan];
  if (quota !== "custom") return quota;
  return { perMinute: Number(per_minute), perDay: Number(per_day) };
}

function animalsOf({ plan, animals }: AccountRow): number | undefined {
  const agreed = animals === null ? undefined : Number(animals);
  return animalsAllowed(plan as Plan, agreed).live ?? undefined;
}

export function toAccount(row: AccountRow): Account {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan as Plan,
    ...toQuota(row),
    animals: animalsOf(row),
    createdAt: Number(row.created_at),
    deletedAt: timeOf(row.deleted_at),
    suspendedAt: timeOf(row.suspended_at),
  };
}

function timeOf(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}
