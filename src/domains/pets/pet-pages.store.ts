import { RecentMap } from "../../collections/maps.ts";
import { INT64_MAX, INT64_MIN } from "../../contract/schemas.ts";
import { type Page, pageOf } from "../../storage/pages.ts";
import type { Values } from "../../storage/statement.ts";
import type { Storage } from "../../storage/storage.ts";
import { all, type Transaction } from "../../storage/transaction.ts";
import type { ListFilters } from "./pets.operations.ts";
import type { Pet, PetStatus } from "./pets.schemas.ts";
import { type PageReads, readPets, rowsAfter, rowsAfterByStatus, rowsNear, toPet } from "./pets.statements.ts";

/**
 * A page by status of n animals is first searched for among the next `SPREAD` × n ids. In the time of one look-up through
 * the index by status, SQLite skips more animals than that, so a search that fails costs little.
 */
const SPREAD = 3;
/** How many lists are remembered as scattered: their animals are too far apart for that search. */
const MAX_SCATTERED = 10_000;

/** A page of animals. `next` is the id after which the next page starts; undefined on the last page. */
export type PetPage = Page<Pet>;

/** Reads lists of animals page by page. */
export class PetPages {
  readonly #storage: Storage;
  /** The lists by status whose most recently read page was not found among nearby ids. */
  readonly #scattered = new RecentMap<string, true>(MAX_SCATTERED);

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Up to `limit` animals after `after`; if it is absent, from the start of the list. */
  page(shop: number, after: bigint | undefined, limit: number, filters: ListFilters): Transaction<PetPage> {
    const { status, categoryId, ids, name, sort } = filters;
    if (categoryId !== undefined || ids !== undefined || name !== undefined || sort !== undefined) {
      return readPets(shop, after, limit, filters);
    }
    return status === undefined
      ? this.#read(rowsAfter, [shop, after ?? INT64_MIN, limit + 1], limit)
      : this.#readByStatus(shop, after, limit, status);
  }

  /**
   * First looks among the next ids, which is faster if many animals have the status. If too few have it, reads by the
   * index, and remembers the list as scattered. A scattered list is read by the index until one of its pages spans
   * fewer than `SPREAD` × n ids.
   */
  *#readByStatus(shop: number, after: bigint | undefined, limit: number, status: PetStatus): Transaction<PetPage> {
    const byIndex = () => this.#read(rowsAfterByStatus, [shop, status, after ?? INT64_MIN, limit + 1], limit);
    if (after === undefined || !this.#storage.readsSynchronously) return yield* byIndex();
    const list = `${shop} ${status}`;
    const span = BigInt(SPREAD * (limit + 1));
    if (!this.#scattered.get(list)) {
      const end = after < INT64_MAX - span ? after + span : INT64_MAX;
      const near = yield* this.#read(rowsNear, [shop, status, after, end, limit + 1], limit);
      if (near.next !== undefined) return near;
    }
    const page = yield* byIndex();
    if (page.next !== undefined && page.next - after < span) this.#scattered.delete(list);
    else this.#scattered.set(list, true);
    return page;
  }

  *#read<P extends Values>(
    { plain, whole }: PageReads<P>,
    parameters: NoInfer<P>,
    limit: number,
  ): Transaction<PetPage> {
    const rows = yield* all(plain, ...parameters);
    const found = rows.some(({ has_metadata }) => has_metadata !== null) ? yield* all(whole, ...parameters) : rows;
    return pageOf<Parameters<typeof toPet>[0], Pet, bigint>(found, limit, toPet, ({ id }) => id);
  }
}
