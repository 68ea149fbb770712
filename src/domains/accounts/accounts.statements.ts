import type { Quota } from "../../contract/quota.ts";
import { type Row, statement } from "../../storage/storage.ts";
import type { Account } from "./accounts.ts";
import { type Plan, plans } from "./plans.ts";

/** The columns that tell an account's quota. */
export interface PlanRow extends Row {
  plan: string;
  per_minute: bigint | null;
  per_day: bigint | null;
}

export interface AccountRow extends PlanRow {
  id: string;
  name: string;
  created_at: bigint;
}

const accountColumns = "id, name, plan, per_minute, per_day, created_at";

export const allAccounts = statement<AccountRow>(`SELECT ${accountColumns} FROM accounts ORDER BY created_at, id`);
export const accountById = statement<AccountRow>(`SELECT ${accountColumns} FROM accounts WHERE id = $1`);
export const insertAccount = statement<AccountRow>(
  `INSERT INTO accounts (${accountColumns}) VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${accountColumns}`,
);
export const updateName = statement<AccountRow>(
  `UPDATE accounts SET name = $1 WHERE id = $2 RETURNING ${accountColumns}`,
);
export const updatePlan = statement<AccountRow>(
  `UPDATE accounts SET plan = $1, per_minute = $2, per_day = $3 WHERE id = $4 RETURNING ${accountColumns}`,
);

export function toQuota({ plan, per_minute, per_day }: PlanRow): Quota {
  const figures = plans[plan as Plan];
  if (figures !== "custom") return figures;
  return { perMinute: Number(per_minute), perDay: Number(per_day) };
}

export function toAccount(row: AccountRow): Account {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan as Plan,
    ...toQuota(row),
    createdAt: Number(row.created_at),
  };
}
