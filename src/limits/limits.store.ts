import { type MaybePromise, whenReady } from "../maybe-promise.ts";
import { all, type Row, type Storage, statement } from "../storage/storage.ts";
import type { Ban } from "./conduct.ts";
import { DAY, type WindowState } from "./windows.ts";

interface WindowRow extends Row {
  minute_ends_at: bigint;
  minute_used: bigint;
  day: bigint;
  day_used: bigint;
  previous_day: bigint;
  previous_day_used: bigint;
}

interface BanRow extends Row {
  key_id: string;
  ends_at: bigint;
  level: bigint;
}

const windowColumns = "minute_ends_at, minute_used, day, day_used, previous_day, previous_day_used";

const readWindows = statement<WindowRow>(`SELECT ${windowColumns} FROM limit_windows WHERE account_id = $1`);
const writeWindows = statement(
  `INSERT INTO limit_windows (account_id, ${windowColumns}) VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (account_id) DO UPDATE SET
     minute_ends_at = excluded.minute_ends_at, minute_used = excluded.minute_used,
     day = excluded.day, day_used = excluded.day_used,
     previous_day = excluded.previous_day, previous_day_used = excluded.previous_day_used`,
);
const readBans = statement<BanRow>("SELECT key_id, ends_at, level FROM key_bans WHERE ends_at > $1");
const writeBan = statement(
  `INSERT INTO key_bans (key_id, ends_at, level) VALUES ($1, $2, $3)
   ON CONFLICT (key_id) DO UPDATE SET ends_at = excluded.ends_at, level = excluded.level`,
);

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
          minuteEndsAt: Number(row.minute_ends_at),
          minuteUsed: Number(row.minute_used),
          day: Number(row.day),
          dayUsed: Number(row.day_used),
          previousDay: Number(row.previous_day),
          previousDayUsed: Number(row.previous_day_used),
        },
    );
  }

  async saveWindows(states: readonly (readonly [string, WindowState])[]): Promise<void> {
    await this.#storage.write(function* () {
      for (const [accountId, state] of states) {
        yield* all(
          writeWindows,
          accountId,
          state.minuteEndsAt,
          state.minuteUsed,
          state.day,
          state.dayUsed,
          state.previousDay,
          state.previousDayUsed,
        );
      }
    });
  }

  /** The bans that hold or ended within the last day before `now`, by key. */
  bans(now: number): MaybePromise<[string, Ban][]> {
    return whenReady(this.#storage.all(readBans, now - DAY), (rows) =>
      rows.map(({ key_id, ends_at, level }) => [key_id, { endsAt: Number(ends_at), level: Number(level) }]),
    );
  }

  async saveBans(bans: readonly (readonly [string, Ban])[]): Promise<void> {
    await this.#storage.write(function* () {
      for (const [keyId, { endsAt, level }] of bans) yield* all(writeBan, keyId, endsAt, level);
    });
  }
}
