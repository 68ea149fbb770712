import { RecentMap } from "../../collections/maps.ts";
import { INT64_MAX, INT64_MIN } from "../../contract/schemas.ts";
import { type Page, pageOf } from "../../storage/page.ts";
import { scannedPage } from "../../storage/page-query.ts";
import type { SqlParameter } from "../../storage/statement.ts";
import type { Storage } from "../../storage/storage.ts";
import { StoreCache } from "../../storage/store-cache.ts";
import { afterCommit, all, type Transaction } from "../../storage/transaction.ts";
import { bytesOf } from "../metadata/metadata.schemas.ts";
import type { ListFilters } from "./pets.operations.ts";
import type { Pet, PetStatus } from "./pets.schemas.ts";
import { petPageQuery, rowsAfter, rowsAfterByStatus, rowsNear, toPet } from "./pets.statements.ts";

/**
 * A page by status of n animals is first searched for among the next `SPREAD` × n ids. In the time of one look-up through
 * the index by status, SQLite skips more animals than that, so a search that fails costs little.
 */
const SPREAD = 3;
/** How many lists are remembered as scattered: their animals are too far apart for that search. */
const MAX_SCATTERED = 10_000;
/** Bytes of all cached pages. About 10,000 pages fit, which is enough for the first page of each of very many shops. */
const CACHE_BYTES = 64 * 1024 * 1024;
const SHOP_CACHE_BYTES = CACHE_BYTES / 16;
/** The maximum number of animals in a cached page. */
const MAX_CACHED_ITEMS = 20;
/** Bytes of an animal without name and metadata, and of a pair without its texts. Each is cached as an object and as JSON. */
const ANIMAL_BYTES = 200;
const PAIR_BYTES = 100;

function sizeOf({ name, metadata }: Pet): number {
  const plain = ANIMAL_BYTES + 4 * name.length;
  return metadata ? plain + PAIR_BYTES * Object.keys(metadata).length + 4 * bytesOf(metadata) : plain;
}

/** A page of animals. `next` is the id after which the next page starts; undefined on the last page. */
export type PetPage = Page<Pet>;

/** Reads lists of animals page by page, and caches the pages of common lists. */
export class PetPages {
  readonly #storage: Storage;
  readonly #cache: StoreCache<PetPage>;
  /** The lists by status whose most recently read page was not found among nearby ids. */
  readonly #scattered = new RecentMap<string, true>(MAX_SCATTERED);

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#cache = new StoreCache(storage, {
      capacity: CACHE_BYTES,
      shopCapacity: SHOP_CACHE_BYTES,
      sizeOf: ({ items }) => items.reduce((bytes, animal) => bytes + sizeOf(animal), ANIMAL_BYTES),
      // Only pages that are not the last one: a new animal comes after them and does not change them.
      isCacheable: ({ items, next }) => next !== undefined && items.length <= MAX_CACHED_ITEMS,
    });
  }

  /** Up to `limit` animals after `after`; if it is absent, from the start of the list. */
  page(shop: number, after: bigint | undefined, limit: number, filters: ListFilters): Transaction<PetPage> {
    const { status, categoryId, ids, name, sort } = filters;
    if (categoryId !== undefined || ids !== undefined || name !== undefined || sort !== undefined) {
      return this.#readAny(shop, after, limit, filters);
    }
    return this.#cache.get(shop, `${status} ${limit} ${after}`, () =>
      status === undefined
        ? this.#read(rowsAfter, [shop, after ?? INT64_MIN, limit + 1], limit)
        : this.#readByStatus(shop, after, limit, status),
    );
  }

  /** Part of a transaction that changes or deletes an animal of the shop: its commit drops the cached pages. */
  forget(shop: number): Transaction<void> {
    return afterCommit(() => this.#cache.forget(shop));
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

  *#read({ plain, whole }: typeof rowsAfter, parameters: readonly SqlParameter[], limit: number): Transaction<PetPage> {
    const rows = yield* all(plain, ...parameters);
    const found = rows.some(({ has_metadata }) => has_metadata !== null) ? yield* all(whole, ...parameters) : rows;
    return pageOf<Parameters<typeof toPet>[0], Pet, bigint>(found, limit, toPet, ({ id }) => id);
  }

  /** Not cached: there are too many of these lists, and a new animal changes the start of some of them. */
  *#readAny(shop: number, after: bigint | undefined, limit: number, filters: ListFilters): Transaction<PetPage> {
    const { statement, parameters } = petPageQuery(shop, after, limit + 1, filters);
    return scannedPage(yield* all(statement, ...parameters), limit, toPet);
  }
}
