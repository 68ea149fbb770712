import type { Storage, Upkeep } from "../../storage/storage.ts";
import { DELETE_BATCH_SIZE, type OwnedRows } from "../../storage/table.ts";
import { all } from "../../storage/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import { type DeletedShops, LARGEST_CLOCK_DIFFERENCE } from "../shops/deleted-shops.store.ts";
import { clearAccountName, deletedAccounts, removeAccount } from "./accounts.statements.ts";

/**
 * How long processes may still write the usage of a deleted account, in milliseconds: a process serves its keys for up
 * to a second, and writes what it has counted within another second.
 */
const STILL_COUNTED_FOR = 2_000;

/** What the deletion of accounts uses. */
export interface DeletionParts {
  readonly storage: Storage & Pick<Upkeep, "scrub">;
  readonly clock: Clock;
  readonly shops: DeletedShops;
  /** All tables whose rows belong to accounts. */
  readonly tables: readonly OwnedRows[];
  /** Each deletes the data of an account in one place. It can be called again. */
  readonly forget: readonly ((accountId: string) => Promise<void>)[];
  /** Called when all data of an account is deleted. */
  readonly onDeleted: (accountId: string) => void;
}

/** Deleted accounts that still have data. */
export class DeletedAccounts {
  readonly #parts: DeletionParts;
  /** The number of calls of `noteChange`. */
  #changes = 0;
  /** This number before the last search that found none. The next search waits for a change, as it reads all accounts. */
  #noneAfter = -1;

  constructor(parts: DeletionParts) {
    this.#parts = parts;
  }

  /** Call it when accounts may have changed. */
  noteChange(): void {
    this.#changes++;
  }

  /** Deletes the remaining data of each account, its record last. If it is interrupted, the next call continues. */
  async deleteRemaining(): Promise<void> {
    const { storage, clock, shops } = this.#parts;
    const changes = this.#changes;
    if (changes === this.#noneAfter) return;
    const deleted = await storage.read(all(deletedAccounts));
    if (deleted.length === 0) this.#noneAfter = changes;
    const now = clock.now();
    for (const { id, deleted_at: at } of deleted) {
      const isStillCounted = at > now - STILL_COUNTED_FOR && at <= now + LARGEST_CLOCK_DIFFERENCE;
      if (!isStillCounted && !(await shops.hasShopsOf(id))) await this.#delete(id);
    }
  }

  async #delete(id: string): Promise<void> {
    const { storage, tables, forget, onDeleted } = this.#parts;
    for (const forgetIn of forget) await forgetIn(id); // first: what is in memory would be written again
    for (const { deleteSome } of tables) {
      while ((await storage.write(() => all(deleteSome, id))).length === DELETE_BATCH_SIZE) continue;
    }
    await storage.write(() => all(clearAccountName, id));
    // `scrub` removes the remains of deleted rows from the files. If another process prevents that, the record stays, and
    // the next call starts again.
    if (!(await storage.scrub())) return;
    await storage.write(() => all(removeAccount, id));
    await storage.scrub(); // also the remains of its record, whose name was cleared before
    onDeleted(id);
  }
}
