import { type ShopNumber, shopNumber } from "../../contract/caller.ts";
import type { Storage } from "../../storage/storage.ts";
import { DELETE_BATCH_SIZE, type OwnedRows } from "../../storage/table.ts";
import { all, first } from "../../storage/transaction.ts";
import { HOUR_MS } from "../../timing/clock.ts";
import { deletedShop, deletedShopOfAccount, remove } from "./shops.statements.ts";

/** Transactions in one round of background work. The next round deletes the rest. */
const BATCHES = 20;
/** How long transactions that began before the end of a shop may still write to it, in milliseconds. */
const STILL_WRITTEN_FOR = 5_000;
/**
 * How far the clocks of two machines may differ, in milliseconds. If a deletion is dated further ahead, the clock was
 * ahead when it was made.
 */
export const LARGEST_CLOCK_DIFFERENCE = HOUR_MS;

/** Shops of deleted accounts, and sandboxes as they were before a reset. No new transaction writes to them. */
export class DeletedShops {
  readonly #storage: Storage;
  readonly #tables: readonly OwnedRows[];

  /** `tables` are all tables whose rows belong to shops. */
  constructor(storage: Storage, tables: readonly OwnedRows[]) {
    this.#storage = storage;
    this.#tables = tables;
  }

  /** Whether any deleted shop of an account is still stored. */
  async hasShopsOf(accountId: string): Promise<boolean> {
    return (await this.#storage.read(first(deletedShopOfAccount, accountId))) !== undefined;
  }

  /**
   * Deletes the data of deleted shops, and then the shops, in small transactions. Later calls delete what one call does
   * not finish, and it can be interrupted at any point. `now` is real time in Unix milliseconds.
   */
  async deleteSome(now: number): Promise<void> {
    for (let batches = BATCHES; batches > 0; ) {
      const row = await this.#storage.read(first(deletedShop, now - STILL_WRITTEN_FOR, now + LARGEST_CLOCK_DIFFERENCE));
      if (!row) return;
      const shop = shopNumber(row.shop);
      batches = await this.#empty(shop, batches);
      if (batches > 0) await this.#storage.write(() => all(remove, shop));
    }
  }

  /** Empties a shop in at most `batches` transactions. Returns how many are left; 0 if there may be more to delete. */
  async #empty(shop: ShopNumber, batches: number): Promise<number> {
    let left = batches;
    for (const { deleteSome } of this.#tables) {
      let deleted = DELETE_BATCH_SIZE;
      while (deleted === DELETE_BATCH_SIZE) {
        if (left === 0) return 0;
        deleted = (await this.#storage.write(() => all(deleteSome, shop))).length;
        if (deleted > 0) left--;
      }
    }
    return left;
  }
}
