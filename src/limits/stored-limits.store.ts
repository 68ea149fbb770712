import { ShopMap } from "../collections/maps.ts";
import type { Mode } from "../contract/caller.ts";
import { type Row, type Statement, statement } from "../storage/statement.ts";
import type { Storage } from "../storage/storage.ts";
import { all } from "../storage/transaction.ts";
import type { DayCount } from "./windows.ts";

/**
 * The stored limits of a shop. Times are Unix milliseconds by the shop's clock, which is `ahead` milliseconds ahead of
 * real time.
 */
export interface StoredLimits {
  readonly ahead: number;
  readonly minuteEnds: number;
  readonly minuteUsed: number;
  /** Days with their counts, of which the first two are restored. A day of 0 stands for none. */
  readonly days: readonly DayCount[];
}

export const noStoredLimits: StoredLimits = { ahead: 0, minuteEnds: 0, minuteUsed: 0, days: [] };

const MAX_LENGTH = 100;
/**
 * How many accounts one query can name. A list of another length is padded to one of these, so that there are few
 * statements.
 */
const LIST_LENGTHS = [1, 10, MAX_LENGTH];

interface ShopRow extends Row {
  account_id: string;
  mode: Mode;
  minute_ends_at: bigint;
  minute_used: bigint;
  day: bigint;
  day_used: bigint;
  previous_day: bigint;
  previous_day_used: bigint;
  ahead: bigint;
}

/** Reads the windows of shops. */
const readShops = new Map(LIST_LENGTHS.map((length) => [length, readShopsIn(listOf(length))]));

function listOf(length: number): string {
  return Array.from({ length }, (_, index) => `$${index + 1}`).join(", ");
}

function readShopsIn(list: string) {
  return statement<string[], ShopRow>(`
    SELECT account_id, mode, minute_ends_at, minute_used, day, day_used, previous_day, previous_day_used, ahead
    FROM limit_windows WHERE account_id IN (${list})`);
}

/** The stored limits of the shops of these accounts. Shops without any are left out. */
export async function readStoredLimits(
  storage: Storage,
  accountIds: readonly string[],
): Promise<ShopMap<StoredLimits>> {
  const found = new ShopMap<StoredLimits>(() => new Map());
  for (let start = 0; start < accountIds.length; ) {
    const length = LIST_LENGTHS.find((one) => one >= accountIds.length - start) ?? MAX_LENGTH;
    const some = accountIds.slice(start, start + length);
    const filled = [...some, ...Array.from({ length: length - some.length }, () => some[0] as string)];
    const rows = await storage.read(all(readShops.get(length) as Statement<string[], ShopRow>, ...filled));
    for (const row of rows) {
      found.set({ accountId: row.account_id, mode: row.mode }, limitsOf(row));
    }
    start += length;
  }
  return found;
}

function limitsOf(row: ShopRow): StoredLimits {
  return {
    ahead: Number(row.ahead),
    minuteEnds: Number(row.minute_ends_at),
    minuteUsed: Number(row.minute_used),
    days: [
      { day: Number(row.day), used: Number(row.day_used) },
      { day: Number(row.previous_day), used: Number(row.previous_day_used) },
    ],
  };
}
