import { type Page, pageOf } from "../../storage/page.ts";
import { Remembered } from "../../storage/remembered.ts";
import type { Storage } from "../../storage/storage.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import type { ListFilters, Pet, PetStatus } from "./pets.operations.ts";
import { type PetRow, pageQuery, rowsAfter, rowsAfterByStatus, toPet } from "./pets.statements.ts";

/** Below every id that an animal can have (int64). */
const BEFORE_ALL = -(2n ** 63n);
/** Pages kept in memory, and the most animals of one that is kept: about 3 KB each, 25 KB at the most. */
const PAGES = 500;
const KEPT_PAGE = 20;

/** A page of animals; `next` is the id behind which the following one starts, if there is one. */
export type PetPage = Page<Pet>;

/** The list of animals, page by page. */
export class PetPages {
  readonly #storage: Storage;
  readonly #remembered: Remembered<string, PetPage>;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#remembered = new Remembered(storage, PAGES);
  }

  /** Up to `limit` animals behind `after`, or from the start of the list where it is absent. */
  page(after: bigint | undefined, limit: number, filters: ListFilters): MaybePromise<PetPage> {
    const { status, categoryId, ids, sort } = filters;
    if (categoryId !== undefined || ids !== undefined || sort !== undefined) {
      return this.#readAny(after, limit, filters);
    }
    return this.#remembered.get(
      `${status} ${limit} ${after}`,
      () => this.#read(after ?? BEFORE_ALL, limit, status),
      // Only a page that others follow: an animal that is added comes after it and changes nothing.
      ({ items, next }) => next !== undefined && items.length <= KEPT_PAGE,
    );
  }

  /** What a transaction that changes an animal or deletes one wants done after its commit. */
  forgetAll(): void {
    this.#remembered.forgetAll();
  }

  #read(after: bigint, limit: number, status: PetStatus | undefined): MaybePromise<PetPage> {
    const rows = status
      ? this.#storage.all(rowsAfterByStatus, status, after, limit + 1)
      : this.#storage.all(rowsAfter, after, limit + 1);
    return whenReady(rows, (found) => toPage(found, limit));
  }

  /** Not remembered: there are too many such lists, and an animal that is added changes the start of some. */
  #readAny(after: bigint | undefined, limit: number, filters: ListFilters): MaybePromise<PetPage> {
    const { statement, parameters } = pageQuery(after, limit + 1, filters);
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
