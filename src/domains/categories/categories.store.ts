import { type Page, pageOf } from "../../storage/page.ts";
import { all, first, type Row, type Storage, statement, type Transaction } from "../../storage/storage.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import type { Category } from "./categories.operations.ts";

/** What categories have to know of the animals that name them, and may do to them. */
export interface CategorizedPets {
  /** Part of a transaction: how many animals name the category. */
  countIn(categoryId: bigint): Transaction<bigint>;
  /** Part of a transaction: makes all animals that name one category name the other. */
  reassign(from: bigint, to: bigint): Transaction<void>;
  /** Part of a transaction: the first number, from this one on, that no animal names. */
  firstUnnamed(from: bigint): Transaction<bigint>;
}

interface CategoryRow extends Row {
  id: bigint;
  name: string;
}
interface IdRow extends Row {
  id: bigint;
}

const byId = statement<CategoryRow>("SELECT id, name FROM categories WHERE id = $1");
const byName = statement<CategoryRow>("SELECT id, name FROM categories WHERE name = $1");
const firstRows = statement<CategoryRow>("SELECT id, name FROM categories ORDER BY id LIMIT $1");
const rowsAfter = statement<CategoryRow>("SELECT id, name FROM categories WHERE id > $1 ORDER BY id LIMIT $2");
const insert = statement<CategoryRow>("INSERT INTO categories (id, name) VALUES ($1, $2) RETURNING id, name");
const setName = statement<CategoryRow>("UPDATE categories SET name = $1 WHERE id = $2 RETURNING id, name");
const remove = statement("DELETE FROM categories WHERE id = $1");
const noteDeletion = statement("INSERT INTO deleted_categories (id) VALUES ($1) ON CONFLICT DO NOTHING");
const lastAssigned = statement<IdRow>("SELECT last_id AS id FROM category_sequence");
const noteAssigned = statement("UPDATE category_sequence SET last_id = $1");
const firstUnused = statement<IdRow>(`
  WITH RECURSIVE candidate (id) AS (
    SELECT CAST($1 AS BIGINT)
    UNION ALL
    SELECT id + 1 FROM candidate
    WHERE id IN (SELECT id FROM categories) OR id IN (SELECT id FROM deleted_categories)
  )
  SELECT max(id) AS id FROM candidate
`);

/** Part of a transaction: whether the category has a record. */
export function* categoryHasRecord(id: bigint): Transaction<boolean> {
  return (yield* first(byId, id)) !== undefined;
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

  constructor(storage: Storage, animals: CategorizedPets) {
    this.#storage = storage;
    this.#animals = animals;
  }

  get(id: bigint): MaybePromise<Category | undefined> {
    return this.#storage.first(byId, id);
  }

  /** Up to `limit` categories with an id above `after` (from the first on, if it is absent), by ascending id. */
  page(after: bigint | undefined, limit: number): MaybePromise<Page<Category>> {
    const rows =
      after === undefined ? this.#storage.all(firstRows, limit + 1) : this.#storage.all(rowsAfter, after, limit + 1);
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
  *add({ id, name }: { id?: bigint; name: string }): Transaction<Category | "id taken" | "name taken"> {
    if (id !== undefined && (yield* first(byId, id))) return "id taken";
    if (yield* first(byName, name)) return "name taken";
    return (yield* first(insert, id ?? (yield* this.#assignId()), name)) as CategoryRow;
  }

  /** Renames a category that is as expected. */
  *rename(
    id: bigint,
    name: string,
    isExpected: Expectation,
  ): Transaction<Category | "not found" | "not expected" | "name taken"> {
    const category = yield* first(byId, id);
    if (!category) return "not found";
    if (!isExpected(category)) return "not expected";
    const bearer = yield* first(byName, name);
    if (bearer && bearer.id !== id) return "name taken";
    return (yield* first(setName, name, id)) as CategoryRow;
  }

  /** Deletes a category that is as expected and has no animals, or whose animals are moved to another. Gives null if it did. */
  *delete(
    id: bigint,
    moveTo: bigint | undefined,
    isExpected: Expectation,
  ): Transaction<null | "not found" | "not expected" | "no target" | InUse> {
    const category = yield* first(byId, id);
    if (!category) return "not found";
    if (!isExpected(category)) return "not expected";
    if (moveTo === undefined) {
      const animals = yield* this.#animals.countIn(id);
      if (animals > 0n) return { refused: "in use", animals };
    } else {
      if (moveTo === id || !(yield* first(byId, moveTo))) return "no target";
      yield* this.#animals.reassign(id, moveTo);
    }
    yield* all(remove, id);
    yield* all(noteDeletion, id);
    return null;
  }

  /**
   * An id that no category has or had and no animal names. The sequence is kept,
   * so that what it has passed by is not looked at again.
   */
  *#assignId(): Transaction<bigint> {
    let id = ((yield* first(lastAssigned)) as IdRow).id + 1n;
    for (;;) {
      const unused = ((yield* first(firstUnused, id)) as IdRow).id;
      id = yield* this.#animals.firstUnnamed(unused);
      if (id === unused) break;
    }
    yield* all(noteAssigned, id);
    return id;
  }
}
