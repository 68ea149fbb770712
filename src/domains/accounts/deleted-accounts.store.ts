import { DELETE_BATCH_SIZE, type OwnedTable } from "../../storage/owned-table.ts";
import type { Storage } from "../../storage/storage.ts";
import { all } from "../../storage/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import { clearAccountName, deletedAccounts, removeAccount } from "./accounts.statements.ts";

/**
 * How long after its deletion something of an account can still be saved, in milliseconds: a process serves its keys
 * for up to a second more, and saves what it counted within another.
 */
const SAVED_AFTER = 2_000;

/** What is kept of accounts elsewhere. */
export interface DeletionParts {
  readonly storage: Storage;
  readonly clock: Clock;
  /** The shops of accounts, which are deleted by themselves. */
  readonly shops: { areLeft(accountId: string): Promise<boolean> | boolean };
  /** All tables whose rows belong to accounts. */
  readonly tables: readonly OwnedTable[];
  /** Each deletes what is kept of an account elsewhere. It can be called again. */
  readonly forget: readonly ((accountId: string) => Promise<void>)[];
  /** Called when nothing of an account is left. */
  readonly gone: (accountId: string) => void;
}

/** Accounts that were deleted, as long as something of them is left. */
export class DeletedAccounts {
  readonly #parts: DeletionParts;

  constructor(parts: DeletionParts) {
    this.#parts = parts;
  }

  /** Removes what is left of each, its record at last. It can end at any place and be called again. */
  async removeLeft(): Promise<void> {
    const { storage, clock, shops } = this.#parts;
    for (const { id, deleted_at } of await storage.all(deletedAccounts)) {
      if (clock.now() < Number(deleted_at) + SAVED_AFTER || (await shops.areLeft(id))) continue;
      await this.#remove(id);
    }
  }

  async #remove(id: string): Promise<void> {
    const { storage, tables, forget, gone } = this.#parts;
    for (const { deleteSome } of tables) {
      while ((await storage.write(() => all(deleteSome, id))).length === DELETE_BATCH_SIZE) continue;
    }
    for (const forgetIn of forget) await forgetIn(id);
    await storage.write(() => all(clearAccountName, id));
    // As long as the record is there, this is tried again.
    if (!(await storage.scrub())) return;
    await storage.write(() => all(removeAccount, id));
    await storage.scrub(); // of its record too, which has only the id and the plan
    gone(id);
  }
}
