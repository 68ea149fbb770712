import { type Page, pageOf } from "../../storage/page.ts";
import { all, first, type Row, type Storage, statement, type Transaction } from "../../storage/storage.ts";
import { type Clock, systemClock } from "../../timing/clock.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import { type LockedShop, lockShop } from "../shops/shops.store.ts";
import type { Category } from "./categories.operations.ts";

/** What categories have to know of the animals that name them, and may do to them. */
export interface CategorizedPets {
  /** Part of a transaction: how many animals name the category. */
  countIn(shop: LockedShop, categoryId: bigint): Transaction<bigint>;
  /** Part of a transaction: makes all animals that name one category name the other. */
  reassign(shop: LockedShop, from: bigint, to: bigint): Transaction<void>;
  /** Part of a transaction: the first number, from this one on, that no animal names. */
  firstUnnamed(shop: LockedShop, from: bigint): Transaction<bigint>;
}

interface CategoryRow extends Row {
  id: bigint;
  name: string;
}
interface IdRow extends Row {
  id: bigint;
}

const byId = statement<CategoryRow>("SELECT id, name FROM categories WHERE shop = $1 AND id = $2");
const byName = statement<CategoryRow>("SELECT id, name FROM categories WHERE shop = $1 AND name = $2");
const firstRows = statement<CategoryRow>("SELECT id, name FROM categories WHERE shop = $1 ORDER BY id LIMIT $2");
const rowsAfter = statement<CategoryRow>(
  "SELECT id, name FROM categories WHERE shop = $1 AND id > $2 ORDER BY id LIMIT $3",
);
const insert = statement<CategoryRow>("INSERT INTO categories (shop, id, name) VALUES ($1, $2, $3) RETURNING id, name");
const setName = statement<CategoryRow>(
  "UPDATE categories SET name = $1 WHERE shop = $2 AND id = $3 RETURNING id, name",
);
const remove = statement("DELETE FROM categories WHERE shop = $1 AND id = $2");
const noteDeletion = statement("INSERT INTO deleted_categories (shop, id) VALUES ($1, $2) ON CONFLICT DO NOTHING");
const lastAssigned = statement<IdRow>("SELECT last_category_id AS id FROM shops WHERE shop = $1");
const noteAssigned = statement("UPDATE shops SET last_category_id = $1 WHERE shop = $2");
const firstUnused = statement<IdRow>(`
  WITH RECURSIVE candidate (id) AS (
    SELECT CAST($1 AS BIGINT)
    UNION ALL
    SELECT id + 1 FROM candidate
    WHERE id IN (SELECT id FROM categories WHERE shop = $2) OR id IN (SELECT id FROM deleted_categories WHERE shop = $2)
  )
  SELECT max(id) AS id FROM candidate
`);

/** Part of a transaction: whether the category has a record. */
export function* categoryHasRecord({ shop }: LockedShop, id: bigint): Transaction<boolean> {
  return (yield* first(byId, shop, id)) !== undefined;
}

/** A category to which animals belong, and how many. */
interface InUse {
  readonly refused: "in use";
  readonly animals: bigint;
}

/** Whether a category is what a client expects to change. */
type Expectation = (category: Category) => boolean;

/** The categories in the store. Everything that changes them is part of a transaction. */
export class CategoryStore {
  readonly #storage: Storage;
  readonly #animals: CategorizedPets;
  readonly #clock: Clock;

  constructor(storage: Storage, animals: CategorizedPets, clock: Clock = systemClock) {
    this.#storage = storage;
    this.#animals = animals;
    this.#clock = clock;
  }

  get(shop: number, id: bigint): MaybePromise<Category | undefined> {
    return this.#storage.first(byId, shop, id);
  }

  /** Up to `limit` categories with an id above `after` (from the first on, if it is absent), by ascending id. */
  page(shop: number, after: bigint | undefined, limit: number): MaybePromise<Page<Category>> {
    const rows =
      after === undefined
        ? this.#storage.all(firstRows, shop, limit + 1)
        : this.#storage.all(rowsAfter, shop, after, limit + 1);
    return whenReady(rows, (found) =>
      pageOf(
        found,
        limit,
        (row) => row,
        ({ id }) => id,
      ),
    );
  }

  /** Adds a category, with an id that the service assigns where it has none. */
  *add(shop: number, { id, name }: { id?: bigint; name: string }): Transaction<Category | "id taken" | "name taken"> {
    const locked = yield* lockShop(shop, this.#clock.now());
    if (id !== undefined && (yield* first(byId, shop, id))) return "id taken";
    if (yield* first(byName, shop, name)) return "name taken";
    return (yield* first(insert, shop, id ?? (yield* this.#assignId(locked)), name)) as CategoryRow;
  }

  /** Renames a category that is as expected. */
  *rename(
    shop: number,
    id: bigint,
    name: string,
    isExpected: Expectation,
  ): Transaction<Category | "not found" | "not expected" | "name taken"> {
    yield* lockShop(shop, this.#clock.now());
    const category = yield* first(byId, shop, id);
    if (!category) return "not found";
    if (!isExpected(category)) return "not expected";
    const bearer = yield* first(byName, shop, name);
    if (bearer && bearer.id !== id) return "name taken";
    return (yield* first(setName, name, shop, id)) as CategoryRow;
  }

  /** Deletes a category that is as expected and has no animals, or whose animals are moved to another. Gives null if it did. */
  *delete(
    shop: number,
    id: bigint,
    moveTo: bigint | undefined,
    isExpected: Expectation,
  ): Transaction<null | "not found" | "not expected" | "no target" | InUse> {
    const locked = yield* lockShop(shop, this.#clock.now());
    const category = yield* first(byId, shop, id);
    if (!category) return "not found";
    if (!isExpected(category)) return "not expected";
    if (moveTo === undefined) {
      const animals = yield* this.#animals.countIn(locked, id);
      if (animals > 0n) return { refused: "in use", animals };
    } else {
      if (moveTo === id || !(yield* first(byId, shop, moveTo))) return "no target";
      yield* this.#animals.reassign(locked, id, moveTo);
    }
    yield* all(remove, shop, id);
    yield* all(noteDeletion, shop, id);
    return null;
  }

  /**
   * An id that no category has or had and no animal names. The last one is kept,
   * so that what it has passed by is not looked at again.
   */
  *#assignId(locked: LockedShop): Transaction<bigint> {
    const { shop } = locked;
    let id = ((yield* first(lastAssigned, shop)) as IdRow).id + 1n;
    for (;;) {
      const unused = ((yield* first(firstUnused, id, shop)) as IdRow).id;
      id = yield* this.#animals.firstUnnamed(locked, unused);
      if (id === unused) break;
    }
    yield* all(noteAssigned, id, shop);
    return id;
  }
}
