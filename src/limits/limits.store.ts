import type { Mode, ShopName } from "../contract/caller.ts";
import { together } from "../storage/combined-steps.ts";
import { change, query, type Row } from "../storage/statement.ts";
import type { Storage } from "../storage/storage.ts";
import { all, first, type Query } from "../storage/transaction.ts";
import type { MaybePromise } from "../timing/maybe-promise.ts";
import type { SavedWindows, Windows } from "./windows.ts";

interface WindowRow extends Row {
  minute_used: bigint;
  minute_ends: bigint;
  day_used: bigint;
  day_ends: bigint;
}

type Shop = [accountId: string, mode: Mode];
type Counts = [minuteUsed: number, minuteEnds: number, dayUsed: number, dayEnds: number];

const readWindows = query<Shop, WindowRow>(
  "SELECT minute_used, minute_ends, day_used, day_ends FROM limit_windows WHERE account_id = $1 AND mode = $2",
);
const writeWindows = change<[...Shop, ...Counts]>(
  `INSERT INTO limit_windows (account_id, mode, minute_used, minute_ends, day_used, day_ends)
   VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (account_id, mode) DO UPDATE SET minute_used = excluded.minute_used, minute_ends = excluded.minute_ends,
     day_used = excluded.day_used, day_ends = excluded.day_ends`,
);
const deleteWindows = change<[accountId: string]>("DELETE FROM limit_windows WHERE account_id = $1");

/** The most shops for one call of `save`. It bounds how long the transaction blocks others. */
export const SAVE_BATCH = 250;

/** The windows of shops in the embedded store. Other stores have none. */
export class LimitStore {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  windows(shop: ShopName): MaybePromise<SavedWindows | undefined> {
    return this.#storage.read(windowsOf(shop));
  }

  async save(mode: Mode, shops: readonly Pick<Windows, "owner" | "saved">[]): Promise<void> {
    const write = ({ owner, saved: { minute, day } }: Pick<Windows, "owner" | "saved">) =>
      all(writeWindows, owner, mode, minute.used, minute.ends, day.used, day.ends);
    await this.#storage.write(() => together(shops.map(write)));
  }

  /** Deletes the windows of both shops of an account. */
  async forget(accountId: string): Promise<void> {
    await this.#storage.write(() => all(deleteWindows, accountId));
  }
}

function* windowsOf({ accountId, mode }: ShopName): Query<SavedWindows | undefined> {
  const row = yield* first(readWindows, accountId, mode);
  return (
    row && {
      minute: { used: Number(row.minute_used), ends: Number(row.minute_ends) },
      day: { used: Number(row.day_used), ends: Number(row.day_ends) },
    }
  );
}
