import type { ShopMap } from "../contract/shop-map.ts";
import type { Mode, ShopName } from "../http/interfaces.ts";
import { each } from "../storage/combined-steps.ts";
import { type Row, statement } from "../storage/statement.ts";
import type { Storage } from "../storage/storage.ts";
import { all } from "../storage/transaction.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import { DAY_MS, MINUTE_MS } from "../timing/units.ts";
import { aheadBy, type ClockReading } from "./clock-reading.ts";
import { type Ban, KeyBans, MAX_BAN } from "./key-bans.ts";
import { readStoredLimits, type StoredLimits } from "./limits-to-restore.store.ts";
import type { ShopState, WindowState } from "./windows.ts";

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

interface BanRow extends Row {
  account_id: string;
  mode: Mode;
  key_id: string;
  ends_at: bigint;
  ends_after: bigint;
  boot: bigint;
  level: bigint;
  ahead: bigint;
}

interface KeyRow extends Row {
  key_id: string;
}

const windowColumns =
  "minute_ends_at, minute_ends_after, boot, minute_used, day, day_used, " +
  "previous_day, previous_day_used, earlier_day, earlier_day_used";

const readWindows = statement<WindowRow>(
  `SELECT ${windowColumns}, ahead FROM limit_windows WHERE account_id = $1 AND mode = $2`,
);
/** The stored row and the new row in the conflict clause of an upsert. */
const [kept, given] = ["limit_windows", "excluded"] as const;
const keptOn = (day: string) => `CASE ${day}
  WHEN ${kept}.day THEN ${kept}.day_used
  WHEN ${kept}.previous_day THEN ${kept}.previous_day_used
  WHEN ${kept}.earlier_day THEN ${kept}.earlier_day_used
  ELSE 0 END`;
/** The count of a day. It never decreases. */
const mostOf = (day: string) => {
  const [newCount, keptCount] = [`${given}.${day}_used`, keptOn(`${given}.${day}`)];
  return `CASE WHEN ${newCount} > ${keptCount} THEN ${newCount} ELSE ${keptCount} END`;
};
/** True if the new row does not have the stored row's day. That day is then kept as the earlier day. */
const storedDayIsMissing = `${kept}.day NOT IN (${given}.day, ${given}.previous_day, ${given}.earlier_day)`;
/** True if the stored minute of the same machine is later than the new one, or overlaps it with more requests. */
const keepsMinute = `${kept}.boot = ${given}.boot AND (
  ${kept}.minute_ends_after >= ${given}.minute_ends_after + ${MINUTE_MS}
  OR ${kept}.minute_ends_after > ${given}.minute_ends_after - ${MINUTE_MS} AND ${kept}.minute_used > ${given}.minute_used)`;
const ofMinute = (column: string) =>
  `${column} = CASE WHEN ${keepsMinute} THEN ${kept}.${column} ELSE ${given}.${column} END`;

/**
 * Processes without a shared limiter still share these rows, so no process may lower the counts of another. For each
 * day, the larger count wins. Of two overlapping minutes, the one with more requests wins; otherwise, the later one. A
 * single process always replaces its own values: its counts of a day only grow, and its minutes do not overlap.
 */
const writeWindows = statement(
  `INSERT INTO limit_windows (account_id, mode, ${windowColumns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
   ON CONFLICT (account_id, mode) DO UPDATE SET
     ${["minute_ends_at", "minute_ends_after", "boot", "minute_used"].map(ofMinute).join(", ")},
     day = excluded.day, day_used = ${mostOf("day")},
     previous_day = excluded.previous_day, previous_day_used = ${mostOf("previous_day")},
     earlier_day = CASE WHEN ${storedDayIsMissing} THEN ${kept}.day ELSE excluded.earlier_day END,
     earlier_day_used = CASE WHEN ${storedDayIsMissing} THEN ${kept}.day_used ELSE ${mostOf("earlier_day")} END`,
);
/** Inserts counts of 0 if the shop has no row. The counts of an existing row stay. */
const writeClockOffset = statement(
  `INSERT INTO limit_windows
     (account_id, mode, ahead, minute_ends_at, minute_used, day, day_used, previous_day, previous_day_used)
   VALUES ($1, $2, $3, 0, 0, 0, 0, 0, 0)
   ON CONFLICT (account_id, mode) DO UPDATE SET
     ahead = CASE WHEN ${kept}.ahead > ${given}.ahead THEN ${kept}.ahead ELSE ${given}.ahead END`,
);
const readBans = statement<BanRow>(
  `SELECT account_id, mode, key_id, ends_at, ends_after, key_bans.boot, level, COALESCE(ahead, 0) AS ahead
   FROM key_bans LEFT JOIN limit_windows USING (account_id, mode)
   WHERE level > 0
     AND (ends_at > $1 + COALESCE(ahead, 0) OR (key_bans.boot = $2 AND ends_after > $3 + COALESCE(ahead, 0)))`,
);
/**
 * True if the stored ban ends later than the new one minus this many milliseconds. If the wall clock decides, a stored
 * ban that ends later than possible began while that clock was ahead, and does not count.
 */
const keptBanEndsAfter = (less: number) => `CASE
  WHEN key_bans.boot = excluded.boot THEN key_bans.ends_after > excluded.ends_after - ${less}
  ELSE key_bans.ends_at > excluded.ends_at - ${less} AND key_bans.ends_at <= excluded.ends_at + ${MAX_BAN} END`;
const ofLongerBan = (column: string) =>
  `${column} = CASE WHEN ${keptBanEndsAfter(0)} THEN key_bans.${column} ELSE excluded.${column} END`;

/**
 * If two processes ban the same key, the later end wins. The higher level wins too, unless that ban is forgotten. A
 * single process bans a key only after the previous ban has ended, and then at a higher level.
 */
const writeBan = statement(
  `INSERT INTO key_bans (account_id, mode, key_id, ends_at, ends_after, boot, level) VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (account_id, mode, key_id) DO UPDATE SET
     ${["ends_at", "ends_after", "boot"].map(ofLongerBan).join(", ")},
     level = CASE WHEN key_bans.level > excluded.level AND ${keptBanEndsAfter(DAY_MS)} THEN key_bans.level ELSE excluded.level END`,
);

/** The maximum number of rows deleted in one transaction. It bounds how long one blocks others. */
const DELETE_BATCH = 500;
const deleteWindows = statement("DELETE FROM limit_windows WHERE account_id = $1");
const deleteBans = statement<KeyRow>(
  `DELETE FROM key_bans WHERE (account_id, mode, key_id) IN
     (SELECT account_id, mode, key_id FROM key_bans WHERE account_id = $1 LIMIT $2)
   RETURNING key_id`,
);

/** The maximum number of shops for one call of `saveWindows`. It bounds how long the transaction blocks others. */
export const SAVE_BATCH = 250;

/** The ban of a key of a shop. */
export interface KeyBan {
  readonly keyId: string;
  readonly shop: ShopName;
  readonly ban: Ban;
}

/** A stored ban, with the number of milliseconds by which the clock of its shop is ahead of real time. */
interface KeptBan extends KeyBan {
  readonly ahead: number;
}

/** Stands for a missing day. */
const noDay = { day: 0, used: 0 };

/** The part of the limits that survives a restart. */
export class LimitStore {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  windows({ accountId, mode }: ShopName): MaybePromise<ShopState | undefined> {
    return whenReady(
      this.#storage.first(readWindows, accountId, mode),
      (row) =>
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
        },
    );
  }

  /** The stored limits of the shops of these accounts, for a Valkey server that has lost them. */
  shops(accountIds: readonly string[]): Promise<ShopMap<StoredLimits>> {
    return readStoredLimits(this.#storage, accountIds);
  }

  /** Saves that the clock of a sandbox is at least this many milliseconds ahead of real time. */
  async saveClockOffset({ accountId, mode }: ShopName, ahead: number): Promise<void> {
    await this.#storage.write(() => all(writeClockOffset, accountId, mode, ahead));
  }

  async saveWindows(states: readonly (readonly [ShopName, WindowState])[]): Promise<void> {
    const rows = states.map(([{ accountId, mode }, state]) => {
      const [previous = noDay, earlier = noDay] = state.earlierDays;
      return [
        accountId,
        mode,
        state.minuteEnd.wall,
        state.minuteEnd.monotonic,
        state.minuteEnd.boot,
        state.minuteUsed,
        state.day,
        state.dayUsed,
        previous.day,
        previous.used,
        earlier.day,
        earlier.used,
      ];
    });
    await this.#storage.write(() => each(writeWindows, rows));
  }

  /** The bans that are active or ended less than a day before the given time, by the wall or the monotonic clock. */
  bans({ wall, monotonic, boot }: ClockReading): MaybePromise<KeptBan[]> {
    const found = this.#storage.all(readBans, Math.floor(wall) - DAY_MS, boot, Math.floor(monotonic) - DAY_MS);
    return whenReady(found, (rows) =>
      rows.map(({ account_id, mode, key_id, ends_at, ends_after, boot: since, level, ahead }) => ({
        keyId: key_id,
        shop: { accountId: account_id, mode },
        ban: {
          end: { wall: Number(ends_at), monotonic: Number(ends_after), boot: Number(since) },
          level: Number(level),
        },
        ahead: Number(ahead),
      })),
    );
  }

  /** The ends of the bans that are active at the given time, in Unix seconds, by key. */
  banEnds(reading: ClockReading): MaybePromise<Map<string, number>> {
    return whenReady(this.bans(reading), (bans) => {
      const ends = bans.map(({ keyId, ban, shop, ahead }) => {
        const now = aheadBy(reading, ahead);
        return [keyId, KeyBans.restore(shop, ban, now).banned(1, now)?.reset] as const;
      });
      return new Map(ends.flatMap(([keyId, end]) => (end === undefined ? [] : [[keyId, end]])));
    });
  }

  /** Deletes the stored limits of both shops of an account. */
  async forget(accountId: string): Promise<void> {
    await this.#storage.write(() => all(deleteWindows, accountId));
    let deleted: number;
    do {
      deleted = (await this.#storage.write(() => all(deleteBans, accountId, DELETE_BATCH))).length;
    } while (deleted === DELETE_BATCH);
  }

  async saveBans(bans: readonly KeyBan[]): Promise<void> {
    const rows = bans.map(({ keyId, shop: { accountId, mode }, ban: { end, level } }) => [
      accountId,
      mode,
      keyId,
      end.wall,
      end.monotonic,
      end.boot,
      level,
    ]);
    await this.#storage.write(() => each(writeBan, rows));
  }
}
