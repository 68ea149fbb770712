import type { ShopName } from "../contract/caller.ts";
import { type Row, statement } from "../storage/statement.ts";
import type { Storage } from "../storage/storage.ts";
import { all, type Transaction } from "../storage/transaction.ts";

interface LiftedRow extends Row {
  key_id: string;
  ends_at: bigint;
}

// A ban of level 0 was lifted; it ends at the time of lifting. The key's next ban replaces it.
const lift = statement<[accountId: string, mode: string, keyId: string, endsAt: number]>(
  `INSERT INTO key_bans (account_id, mode, key_id, ends_at, ends_after, boot, level) VALUES ($1, $2, $3, $4, 0, 0, 0)
   ON CONFLICT (account_id, mode, key_id) DO UPDATE SET ends_at = excluded.ends_at, ends_after = 0, boot = 0, level = 0`,
);
const readLifted = statement<[], LiftedRow>("SELECT key_id, ends_at FROM key_bans WHERE level = 0");

/**
 * Part of a transaction: lifts the ban of a key at `now`, in Unix milliseconds. On PostgreSQL, other processes notice
 * it only if the transaction also changes a key, which `clearNotedBan` does.
 */
export function* liftBan({ accountId, mode }: ShopName, keyId: string, now: number): Transaction<void> {
  yield* all(lift, accountId, mode, keyId, now);
}

/** Notices bans that another process has lifted. */
export class LiftedBans {
  readonly #storage: Storage;
  /** Called with each key whose ban was lifted. */
  readonly #lifted: (keyId: string) => void;
  /** The time at which the last known ban of each key was lifted. */
  #known: ReadonlyMap<string, bigint> = new Map();
  /** True if the store may have changed since the last read, or the last read failed. */
  #isDue = false;

  private constructor(storage: Storage, lifted: (keyId: string) => void) {
    this.#storage = storage;
    this.#lifted = lifted;
  }

  /** Calls `lifted` for bans that are lifted from now on. */
  static async open(storage: Storage, lifted: (keyId: string) => void): Promise<LiftedBans> {
    const bans = new LiftedBans(storage, lifted);
    storage.onOtherProcessChange(() => {
      bans.#isDue = true;
    });
    bans.#known = await bans.#read();
    return bans;
  }

  /**
   * Reads the lifted bans if another process has changed the store, or the last read failed. Call it twice a second.
   * Rejects with `StorageUnavailable`.
   */
  async refresh(): Promise<void> {
    if (!this.#isDue) return;
    this.#isDue = false;
    try {
      const found = await this.#read();
      for (const [keyId, at] of found) if (this.#known.get(keyId) !== at) this.#lifted(keyId);
      this.#known = found;
    } catch (error) {
      this.#isDue = true;
      throw error;
    }
  }

  async #read(): Promise<ReadonlyMap<string, bigint>> {
    const rows = await this.#storage.read(all(readLifted));
    return new Map(rows.map(({ key_id, ends_at }) => [key_id, ends_at]));
  }
}
