import { type Page, pageOf } from "../../storage/page.ts";
import { scannedPage } from "../../storage/page-query.ts";
import type { Storage } from "../../storage/storage.ts";
import { StoreCache } from "../../storage/store-cache.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import { bytesOf } from "../metadata/metadata.schemas.ts";
import type { ListFilters, Pet, PetStatus } from "./pets.operations.ts";
import { petPageQuery, rowsAfter, rowsAfterByStatus, toPet } from "./pets.statements.ts";

/** Below every id that an animal can have (int64). */
const BEFORE_ALL = -(2n ** 63n);
/** Bytes of the pages that are kept in memory: about 10,000, so that each of very many shops has its first page there. */
const CAPACITY = 64 * 1024 * 1024;
const SHOP_CAPACITY = CAPACITY / 16;
/** The most animals of a page that is kept. */
const KEPT_PAGE = 20;
/** Bytes of an animal besides its name and metadata, and of a pair besides its texts; as a value and as text. */
const ANIMAL = 200;
const PAIR = 100;

function sizeOf({ name, metadata }: Pet): number {
  const plain = ANIMAL + 4 * name.length;
  return metadata ? plain + PAIR * Object.keys(metadata).length + 4 * bytesOf(metadata) : plain;
}

/** A page of animals; `next` is the id behind which the following one starts, if there is one. */
export type PetPage = Page<Pet>;

/** The list of animals, page by page. */
export class PetPages {
  readonly #storage: Storage;
  readonly #remembered: StoreCache<PetPage>;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#remembered = new StoreCache(storage, {
      capacity: CAPACITY,
      shopCapacity: SHOP_CAPACITY,
      sizeOf: ({ items }) => items.reduce((bytes, animal) => bytes + sizeOf(animal), ANIMAL),
      // Only a page that others follow: an animal that is added comes after it and changes nothing.
      isLasting: ({ items, next }) => next !== undefined && items.length <= KEPT_PAGE,
    });
  }

  /** Up to `limit` animals behind `after`, or from the start of the list where it is absent. */
  page(shop: number, after: bigint | undefined, limit: number, filters: ListFilters): MaybePromise<PetPage> {
    const { status, categoryId, ids, name, sort } = filters;
    if (categoryId !== undefined || ids !== undefined || name !== undefined || sort !== undefined) {
      return this.#readAny(shop, after, limit, filters);
    }
    return this.#remembered.get(shop, `${status} ${limit} ${after}`, () =>
      this.#read(shop, after ?? BEFORE_ALL, limit, status),
    );
  }

  /** What a transaction that changes an animal of the shop or deletes one wants done after its commit. */
  forget(shop: number): void {
    this.#remembered.forget(shop);
  }

  #read(shop: number, after: bigint, limit: number, status: PetStatus | undefined): MaybePromise<PetPage> {
    const toPage = (found: readonly Parameters<typeof toPet>[0][]) => pageOf(found, limit, toPet, ({ id }) => id);
    const read = status ? rowsAfterByStatus : rowsAfter;
    const parameters = status ? [shop, status, after, limit + 1] : [shop, after, limit + 1];
    return whenReady(this.#storage.all(read.plain, ...parameters), (found): MaybePromise<PetPage> => {
      if (found.every(({ has_metadata }) => has_metadata === null)) return toPage(found);
      return whenReady(this.#storage.all(read.whole, ...parameters), toPage);
    });
  }

  /** Not remembered: there are too many such lists, and an animal that is added changes the start of some. */
  #readAny(shop: number, after: bigint | undefined, limit: number, filters: ListFilters): MaybePromise<PetPage> {
    const { statement, parameters } = petPageQuery(shop, after, limit + 1, filters);
    return whenReady(this.#storage.all(statement, ...parameters), (rows) => scannedPage(rows, limit, toPet));
  }
}
