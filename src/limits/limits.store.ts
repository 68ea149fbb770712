import { type MaybePromise, whenReady } from "../maybe-promise.ts";
import { each, type Row, type Storage, statement } from "../storage/storage.ts";
import type { Ban } from "./conduct.ts";
import type { Moment } from "./moment.ts";
import { DAY, type WindowState } from "./windows.ts";

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
}

interface BanRow extends Row {
  key_id: string;
  ends_at: bigint;
  ends_after: bigint;
  boot: bigint;
  level: bigint;
}

const windowColumns =
  "minute_ends_at, minute_ends_after, boot, minute_used, day, day_used, " +
  "previous_day, previous_day_used, earlier_day, earlier_day_used";

const readWindows = statement<WindowRow>(`SELECT ${windowColumns} FROM limit_windows WHERE account_id = $1`);
const writeWindows = statement(
  `INSERT INTO limit_windows (account_id, ${windowColumns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
   ON CONFLICT (account_id) DO UPDATE SET
     minute_ends_at = excluded.minute_ends_at, minute_ends_after = excluded.minute_ends_after,
     boot = excluded.boot, minute_used = excluded.minute_used,
     day = excluded.day, day_used = excluded.day_used,
     previous_day = excluded.previous_day, previous_day_used = excluded.previous_day_used,
     earlier_day = excluded.earlier_day, earlier_day_used = excluded.earlier_day_used`,
);
const readBans = statement<BanRow>(
  `SELECT key_id, ends_at, ends_after, boot, level FROM key_bans
   WHERE ends_at > $1 OR (boot = $2 AND ends_after > $3)`,
);
const writeBan = statement(
  `INSERT INTO key_bans (key_id, ends_at, ends_after, boot, level) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (key_id) DO UPDATE SET
     ends_at = excluded.ends_at, ends_after = excluded.ends_after, boot = excluded.boot, level = excluded.level`,
);

/** In place of a day that there was none. */
const noDay = { day: 0, used: 0 };

/** What of the limits outlives the process. */
export class LimitStore {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  windows(accountId: string): MaybePromise<WindowState | undefined> {
    return whenReady(
      this.#storage.first(readWindows, accountId),
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
        },
    );
  }

  async saveWindows(states: readonly (readonly [string, WindowState])[]): Promise<void> {
    const rows = states.map(([accountId, state]) => {
      const [previous = noDay, earlier = noDay] = state.earlierDays;
      return [
        accountId,
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

  /** The bans that hold, or ended within a day before the given moment by one of its clocks, by key. */
  bans({ wall, monotonic, boot }: Moment): MaybePromise<[string, Ban][]> {
    const found = this.#storage.all(readBans, Math.floor(wall) - DAY, boot, Math.floor(monotonic) - DAY);
    return whenReady(found, (rows) =>
      rows.map(({ key_id, ends_at, ends_after, boot: since, level }) => [
        key_id,
        {
          end: { wall: Number(ends_at), monotonic: Number(ends_after), boot: Number(since) },
          level: Number(level),
        },
      ]),
    );
  }

  async saveBans(bans: readonly (readonly [string, Ban])[]): Promise<void> {
    const rows = bans.map(([keyId, { end, level }]) => [keyId, end.wall, end.monotonic, end.boot, level]);
    await this.#storage.write(() => each(writeBan, rows));
  }
}
