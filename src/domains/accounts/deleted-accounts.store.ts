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

/** Data of accounts outside this store. */
export interface DeletionParts {
  readonly storage: Storage;
  readonly clock: Clock;
  /** The shops of accounts, which are deleted by themselves. */
  readonly shops: { areLeft(accountId: string): Promise<boolean> | boolean };
  /** All tables whose rows belong to accounts. */
  readonly tables: readonly OwnedTable[];
  /** Each deletes the data of an account in one place. It can be called again. */
  readonly forget: readonly ((accountId: string) => Promise<void>)[];
  /** Called when all data of an account is deleted. */
  readonly gone: (accountId: string) => void;
}

/** Deleted accounts that still have data. */
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
    // This is repeated as long as the record exists.
    if (!(await storage.scrub())) return;
    await storage.write(() => all(removeAccount, id));
    await storage.scrub(); // of its record too, which has only the id and the plan
    gone(id);
  }
}
