import { type Page, pageOf } from "../../storage/page.ts";
import { Remembered } from "../../storage/remembered.ts";
import type { Storage } from "../../storage/storage.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import type { ListFilters, Pet, PetStatus } from "./pets.operations.ts";
import { type PetRow, pageQuery, rowsAfter, rowsAfterByStatus, toPet } from "./pets.statements.ts";

/** Below every id that an animal can have (int64). */
const BEFORE_ALL = -(2n ** 63n);
/** Bytes of the pages that are kept in memory, and the most animals of one that is kept. */
const CAPACITY = 16 * 1024 * 1024;
const KEPT_PAGE = 20;
/** Bytes of an animal besides its name, as a value and as text. */
const ANIMAL = 200;

/** A page of animals; `next` is the id behind which the following one starts, if there is one. */
export type PetPage = Page<Pet>;

/** The list of animals, page by page. */
export class PetPages {
  readonly #storage: Storage;
  readonly #remembered: Remembered<PetPage>;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#remembered = new Remembered(storage, {
      capacity: CAPACITY,
      sizeOf: ({ items }) => items.reduce((bytes, { name }) => bytes + ANIMAL + 4 * name.length, ANIMAL),
      // Only a page that others follow: an animal that is added comes after it and changes nothing.
      isLasting: ({ items, next }) => next !== undefined && items.length <= KEPT_PAGE,
    });
  }

  /** Up to `limit` animals behind `after`, or from the start of the list where it is absent. */
  page(shop: number, after: bigint | undefined, limit: number, filters: ListFilters): MaybePromise<PetPage> {
    const { status, categoryId, ids, sort } = filters;
    if (categoryId !== undefined || ids !== undefined || sort !== undefined) {
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
    const rows = status
      ? this.#storage.all(rowsAfterByStatus, shop, status, after, limit + 1)
      : this.#storage.all(rowsAfter, shop, after, limit + 1);
    return whenReady(rows, (found) => toPage(found, limit));
  }

  /** Not remembered: there are too many such lists, and an animal that is added changes the start of some. */
  #readAny(shop: number, after: bigint | undefined, limit: number, filters: ListFilters): MaybePromise<PetPage> {
    const { statement, parameters } = pageQuery(shop, after, limit + 1, filters);
    return whenReady(this.#storage.all(statement, ...parameters), (rows) => {
      const end = rows.find(({ reached }) => reached !== null);
      if (!end) return toPage(rows, limit);
      const items = rows.filter((row) => row !== end).map(toPet);
      return { items, next: end.id };
    });
  }
}

function toPage(found: readonly PetRow[], limit: number): PetPage {
  return pageOf(found, limit, toPet, ({ id }) => id);
}
