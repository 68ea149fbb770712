import { type Row, statement } from "../../storage/statement.ts";
import type { Storage } from "../../storage/storage.ts";
import { all } from "../../storage/transaction.ts";
import { countsIn } from "./usage-intervals.ts";

/** What usage can be grouped by. */
export const groupings = ["accounts", "keys", "addresses", "operations"] as const;
export type Grouping = (typeof groupings)[number];

/** The counts by which sums can be sorted. An error is a 5xx, a rejection a 4xx. */
export const usageOrders = ["requests", "errors", "rejections"] as const;
export type UsageOrder = (typeof usageOrders)[number];

/** The requests of one account, key, address or operation. */
export interface UsageSum {
  readonly name: string;
  readonly requests: number;
  readonly errors: number;
  readonly rejections: number;
}

/** Requests of one account, key, address or operation whose responses had the same status. */
export interface GroupCount {
  readonly name: string;
  readonly status: number;
  readonly requests: number;
}

interface CountRow extends Row {
  name: string;
  status: bigint;
  counts: string;
}

const countsBy = (name: string, condition: string) =>
  statement<CountRow>(
    `SELECT ${name} AS name, status, counts FROM usage_counts WHERE span = 'day' AND starts_at >= $1 AND ${condition}`,
  );
const reads = {
  accounts: countsBy("account_id", "key_id = ''"),
  keys: countsBy("key_id", "key_id <> ''"),
  operations: countsBy("operation", "key_id = ''"),
};

/** The counts of a grouping since the UTC day that starts at `since`, in Unix seconds. */
export async function countsSince(
  storage: Storage,
  grouping: Exclude<Grouping, "addresses">,
  since: number,
): Promise<GroupCount[]> {
  const rows = await storage.read(all(reads[grouping], since));
  return rows.map(({ name, status, counts }) => ({
    name,
    status: Number(status),
    requests: countsIn(counts).reduce((sum, requests) => sum + requests, 0),
  }));
}

/** The largest sums by one of these counts, the largest first. Sums where it is 0 are left out. */
export function topOf(counts: readonly GroupCount[], by: UsageOrder, limit: number): UsageSum[] {
  const sums = new Map<string, UsageSum>();
  for (const { name, status, requests } of counts) {
    const sum = sums.get(name) ?? { name, requests: 0, errors: 0, rejections: 0 };
    sums.set(name, {
      name,
      requests: sum.requests + requests,
      errors: sum.errors + (status >= 500 ? requests : 0),
      rejections: sum.rejections + (status >= 400 && status < 500 ? requests : 0),
    });
  }
  const found = [...sums.values()].filter((sum) => sum[by] > 0);
  return found.toSorted((one, other) => other[by] - one[by]).slice(0, limit);
}
