import type { ShopMap } from "../collections/maps.ts";
import type { Mode, ShopName } from "../contract/caller.ts";
import { inLockOrder, together } from "../storage/combined-steps.ts";
import { type Row, statement } from "../storage/statement.ts";
import type { Storage } from "../storage/storage.ts";
import { all, first, type Transaction } from "../storage/transaction.ts";
import { MINUTE_MS } from "../timing/clock.ts";
import type { MaybePromise } from "../timing/maybe-promise.ts";
import { readStoredLimits, type StoredLimits } from "./stored-limits.store.ts";
import { noDay, type ShopState, type WindowState } from "./windows.ts";

/** `..._ends_at` is Unix time, and `..._ends_after` the time since the boot: see `StoredEnd`. */
interface WindowRow extends Row {
  minute_ends_at: bigint;
  minute_ends_after: bigint;
  boot: bigint;
  minute_used: bigint;
  day: bigint;
  day_used: bigint;
  previous_day: bigint;
  previous_day_used: bigint;
  earlier_day: bigint;
  earlier_day_used: bigint;
  ahead: bigint;
}

type Name = [accountId: string, mode: Mode];
type End = [wall: number, monotonic: number, boot: number];
type Minute = [...End, used: number];
type Count = [day: number, used: number];

const windowColumns =
  "minute_ends_at, minute_ends_after, boot, minute_used, day, day_used, " +
  "previous_day, previous_day_used, earlier_day, earlier_day_used";

const readWindows = statement<Name, WindowRow>(
  `SELECT ${windowColumns}, ahead FROM limit_windows WHERE account_id = $1 AND mode = $2`,
);
// In these statements, `limit_windows` is the stored row, and `excluded` is the new row.
/** The stored count of a day; 0 if the row does not have that day. */
const storedCountOf = (day: string) => `CASE ${day}
  WHEN limit_windows.day THEN limit_windows.day_used
  WHEN limit_windows.previous_day THEN limit_windows.previous_day_used
  WHEN limit_windows.earlier_day THEN limit_windows.earlier_day_used
  ELSE 0 END`;
/** The count of a day. It never decreases. */
const largerCountOf = (day: string) => {
  const [newCount, storedCount] = [`excluded.${day}_used`, storedCountOf(`excluded.${day}`)];
  return `CASE WHEN ${newCount} > ${storedCount} THEN ${newCount} ELSE ${storedCount} END`;
};
/** True if the new row does not have the stored row's day. That day is then kept as the earlier day. */
const storedDayIsMissing = `limit_windows.day NOT IN (excluded.day, excluded.previous_day, excluded.earlier_day)`;
/** Both rows are of one boot of a machine. Rows of Valkey have 0 in `boot`, because they only have its wall clock. */
const monotonicClockDecides = "limit_windows.boot = excluded.boot AND excluded.boot <> 0";
/** True if the stored minute is later than the new one, or overlaps it with more requests, by the ends in this column. */
const storedMinuteWins = (ends: string) => `(limit_windows.${ends} >= excluded.${ends} + ${MINUTE_MS}
  OR limit_windows.${ends} > excluded.${ends} - ${MINUTE_MS} AND limit_windows.minute_used > excluded.minute_used)`;
/** If the wall clock decides, a stored minute that ends later than possible is that of a wrong clock, and does not count. */
const keepsStoredMinute = `CASE
  WHEN ${monotonicClockDecides} THEN ${storedMinuteWins("minute_ends_after")}
  ELSE ${storedMinuteWins("minute_ends_at")} AND limit_windows.minute_ends_at < excluded.minute_ends_at + ${2 * MINUTE_MS} END`;
const ofMinute = (column: string) =>
  `${column} = CASE WHEN ${keepsStoredMinute} THEN limit_windows.${column} ELSE excluded.${column} END`;

/**
 * Processes without a shared limiter still share these rows, so no process may lower the counts of another. For each
 * day, the larger count wins. Of two overlapping minutes, the one with more requests wins; otherwise, the later one. A
 * single process always replaces its own values: its counts of a day only grow, and its minutes do not overlap.
 */
const writeWindows = statement<[...Name, ...Minute, ...Count, ...Count, ...Count]>(
  `INSERT INTO limit_windows (account_id, mode, ${windowColumns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
   ON CONFLICT (account_id, mode) DO UPDATE SET
     ${["minute_ends_at", "minute_ends_after", "boot", "minute_used"].map(ofMinute).join(", ")},
     day = excluded.day, day_used = ${largerCountOf("day")},
     previous_day = excluded.previous_day, previous_day_used = ${largerCountOf("previous_day")},
     earlier_day = CASE WHEN ${storedDayIsMissing} THEN limit_windows.day ELSE excluded.earlier_day END,
     earlier_day_used = CASE WHEN ${storedDayIsMissing} THEN limit_windows.day_used ELSE ${largerCountOf("earlier_day")} END`,
);
/** Inserts counts of 0 if the shop has no row. The counts of an existing row stay. */
const writeClockOffset = statement<[...Name, ahead: number]>(
  `INSERT INTO limit_windows
     (account_id, mode, ahead, minute_ends_at, minute_used, day, day_used, previous_day, previous_day_used)
   VALUES ($1, $2, $3, 0, 0, 0, 0, 0, 0)
   ON CONFLICT (account_id, mode) DO UPDATE SET
     ahead = CASE WHEN limit_windows.ahead > excluded.ahead THEN limit_windows.ahead ELSE excluded.ahead END`,
);
const deleteWindows = statement<[accountId: string]>("DELETE FROM limit_windows WHERE account_id = $1");
/** The maximum number of shops for one call of `saveWindows`. It bounds how long the transaction blocks others. */
export const SAVE_BATCH = 250;

/** The part of the limits that survives a restart. */
export class LimitStore {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  windows(shop: ShopName): MaybePromise<ShopState | undefined> {
    return this.#storage.read(windowsOf(shop));
  }

  /** The stored limits of the shops of these accounts. */
  storedLimits(accountIds: readonly string[]): Promise<ShopMap<StoredLimits>> {
    return readStoredLimits(this.#storage, accountIds);
  }

  /** Saves that the clock of a sandbox is at least this many milliseconds ahead of real time. */
  async saveClockOffset({ accountId, mode }: ShopName, ahead: number): Promise<void> {
    await this.#storage.write(() => all(writeClockOffset, accountId, mode, ahead));
  }

  async saveWindows(states: readonly (readonly [ShopName, WindowState])[]): Promise<void> {
    const parts = inLockOrder(states, ([shop]) => rowOf(shop)).map(([{ accountId, mode }, state]) => {
      const [previous = noDay, earlier = noDay] = state.earlierDays;
      const { wall, monotonic, boot } = state.minuteEnd;
      const minute = [wall, monotonic, boot, state.minuteUsed] as const;
      const earlierDays = [previous.day, previous.used, earlier.day, earlier.used] as const;
      return all(writeWindows, accountId, mode, ...minute, state.day, state.dayUsed, ...earlierDays);
    });
    await this.#storage.write(() => together(parts));
  }

  /** Deletes the stored limits of both shops of an account. */
  async forget(accountId: string): Promise<void> {
    await this.#storage.write(() => all(deleteWindows, accountId));
  }
}

function rowOf({ accountId, mode }: ShopName): string {
  return `${accountId} ${mode}`;
}

function* windowsOf({ accountId, mode }: ShopName): Transaction<ShopState | undefined> {
  const row = yield* first(readWindows, accountId, mode);
  return (
    row && {
      minuteEnd: {
        wall: Number(row.minute_ends_at),
        monotonic: Number(row.minute_ends_after),
        boot: Number(row.boot),
      },
      minuteUsed: Number(row.minute_used),
      day: Number(row.day),
      dayUsed: Number(row.day_used),
      earlierDays: [
        { day: Number(row.previous_day), used: Number(row.previous_day_used) },
        { day: Number(row.earlier_day), used: Number(row.earlier_day_used) },
      ],
      ahead: Number(row.ahead),
    }
  );
}
