import { nameKey } from "../../../csv/name-key.ts";
import { present } from "../../collections/present.ts";
import type { ShopNumber } from "../../contract/caller.ts";
import { type Failure, failure, invalidBody, isFailure, versionMismatch } from "../../contract/errors.ts";
import { RESPONSE_TIMEOUT } from "../../contract/requests.ts";
import { StorageUnavailable } from "../../storage/errors.ts";
import { type Page, pageOf } from "../../storage/pages.ts";
import { rowMapping } from "../../storage/row-mapping.ts";
import { change, type IdRow, query } from "../../storage/statement.ts";
import type { Storage } from "../../storage/storage.ts";
import { count, insertInto, integer, optional, type RowOf, table, text } from "../../storage/table.ts";
import { all, type Change, first, type Query } from "../../storage/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import { eventsOf, type NewEvent } from "../events/new-event.ts";
import { type Author, publish } from "../events/publish.ts";
import { unlessEmpty } from "../metadata/metadata.schemas.ts";
import { insertMetadata, metadataColumn, metadataField, replaceMetadata } from "../metadata/metadata.store.ts";
import { patched } from "../metadata/patched.ts";
import { animalsIn, firstUnreferenced, reassign } from "../pets/counts/category-animals.store.ts";
import type { ShopFigures } from "../shops/figures.ts";
import type { LockedShop } from "../shops/locked-shop.ts";
import { lockShop } from "../shops/shops.store.ts";
import {
  Category,
  type CategoryPatch,
  categoryCreated,
  categoryDeleted,
  categoryIdTaken,
  categoryInUse,
  categoryNameTaken,
  categoryNotFound,
  categoryUpdated,
  moveTargetNotFound,
  type NewCategory,
} from "./categories.operations.ts";

/** `name_key` is the same for names that look the same. */
const categoryTable = table(
  "categories",
  { shop: integer, id: integer, name: text, name_key: text, has_metadata: optional(integer) },
  { key: ["shop", "id"], indices: { categories_by_name: { on: "shop, name_key", unique: true } } },
);
/** Ids that must not be given again, and the names that past sales show. */
const deletedCategoryTable = table(
  "deleted_categories",
  { shop: integer, id: integer, name: text },
  { key: ["shop", "id"] },
);
export const categoryTables = [categoryTable, deletedCategoryTable];

/** What the row of a shop holds of its categories. */
export const categoryFigures: ShopFigures = { columns: { last_category_id: count } };

type CategoryRow = Omit<RowOf<typeof categoryTable>, "shop" | "name_key" | "has_metadata"> & {
  metadata: string | null;
};
/** How a category is kept in its row. */
const fields = rowMapping<Omit<Category, "id">, CategoryRow, Omit<RowOf<typeof categoryTable>, "shop" | "id">>()(
  "categories",
  {
    name: { write: { name: (name) => name }, search: { name_key: nameKey }, read: ({ name }) => name },
    metadata: metadataField,
  },
);
const columns = `id, ${fields.readColumns.join(", ")}, ${metadataColumn("category", "categories")}`;
type Key = [shop: ShopNumber, id: bigint];

const byId = query<Key, CategoryRow>(`SELECT ${columns} FROM categories WHERE shop = $1 AND id = $2`);
const byNameKey = query<[shop: ShopNumber, nameKey: string], IdRow>(
  "SELECT id FROM categories WHERE shop = $1 AND name_key = $2",
);
const keysOf = query<[shop: ShopNumber], IdRow & { key: string }>(
  "SELECT id, name_key AS key FROM categories WHERE shop = $1",
);
const firstRows = query<[shop: ShopNumber, limit: number], CategoryRow>(
  `SELECT ${columns} FROM categories WHERE shop = $1 ORDER BY id LIMIT $2`,
);
const rowsAfter = query<[...Key, limit: number], CategoryRow>(
  `SELECT ${columns} FROM categories WHERE shop = $1 AND id > $2 ORDER BY id LIMIT $3`,
);
const insert = insertInto(categoryTable, ["shop", "id", ...fields.columns]);
const remove = change<Key>("DELETE FROM categories WHERE shop = $1 AND id = $2");
const noteDeletion = change<[...Key, name: string]>(
  `INSERT INTO deleted_categories (shop, id, name) VALUES ($1, $2, $3)
   ON CONFLICT (shop, id) DO UPDATE SET name = excluded.name`,
);
const lastAssigned = query<[shop: ShopNumber], IdRow>("SELECT last_category_id AS id FROM shops WHERE shop = $1");
const noteAssigned = change<[id: bigint, shop: ShopNumber]>("UPDATE shops SET last_category_id = $1 WHERE shop = $2");
/** The first id, from `$1` on, that no category has had. `EXISTS`: for `IN`, SQLite would read all ids of the shop. */
export const firstUnused = query<[id: bigint, shop: ShopNumber], IdRow>(`
  WITH RECURSIVE candidate (id) AS (
    SELECT CAST($1 AS BIGINT)
    UNION ALL
    SELECT id + 1 FROM candidate
    WHERE EXISTS (SELECT 1 FROM categories WHERE shop = $2 AND id = candidate.id)
      OR EXISTS (SELECT 1 FROM deleted_categories WHERE shop = $2 AND id = candidate.id)
  )
  SELECT max(id) AS id FROM candidate
`);

const event = eventsOf<Category>(({ id }) => ({ under: null, subjectId: String(id) }));

function toCategory(row: CategoryRow): Category {
  return fields.read(row, { id: row.id });
}

/** Part of a transaction: the ids of all categories of a shop, by the `nameKey` of each. */
export function* categoryIds(shop: ShopNumber): Query<ReadonlyMap<string, bigint>> {
  return new Map((yield* all(keysOf, shop)).map(({ key, id }) => [key, id]));
}

/** Part of a transaction: whether the category exists. */
export function* categoryExists({ shop }: LockedShop, id: bigint): Query<boolean> {
  return (yield* first(byId, shop, id)) !== undefined;
}

/** Whether a category is what a client expects to change. */
type Expectation = (category: Category) => boolean;

/** The categories in the store. Everything that changes them is part of a transaction. */
export class CategoryStore {
  readonly #storage: Storage;
  readonly #clock: Clock;

  constructor(storage: Storage, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  *get(shop: ShopNumber, id: bigint): Query<Category | Failure<typeof categoryNotFound>> {
    const row = yield* first(byId, shop, id);
    return row ? toCategory(row) : notFound(id);
  }

  /** Up to `limit` categories with an id above `after` (from the first on, if it is absent), by ascending id. */
  *page(shop: ShopNumber, after: bigint | undefined, limit: number): Query<Page<Category>> {
    const rows =
      after === undefined ? yield* all(firstRows, shop, limit + 1) : yield* all(rowsAfter, shop, after, limit + 1);
    return pageOf(rows, limit, toCategory, ({ id }) => id);
  }

  /** Adds a category. The service assigns an id if none is given. */
  *add(author: Author, { id, metadata: pairs, ...given }: NewCategory) {
    const { shop } = author;
    const locked = yield* lockShop(shop, this.#clock.now());
    if (id !== undefined && (yield* first(byId, shop, id))) {
      return failure(categoryIdTaken, `A category with the id ${id} already exists.`);
    }
    if (yield* first(byNameKey, shop, nameKey(given.name))) return nameTaken;
    const metadata = unlessEmpty(pairs);
    const added = present<Category>({ ...given, id: id ?? (yield* this.#assignId(locked)), metadata });
    yield* all(insert, shop, added.id, ...fields.values(added));
    yield* insertMetadata(shop, "category", [added]);
    yield* publish(locked, author, [event(categoryCreated, added)]);
    return added;
  }

  /** Changes the fields in the patch if the category is as expected. Other fields stay. */
  *update(author: Author, id: bigint, patch: CategoryPatch, isExpected: Expectation) {
    const { shop } = author;
    const locked = yield* lockShop(shop, this.#clock.now());
    const row = yield* first(byId, shop, id);
    if (!row) return notFound(id);
    const before = toCategory(row);
    if (!isExpected(before)) return versionMismatch("category", id);
    const after = patched<Category>(before, { ...before, ...patch });
    if ("message" in after) return invalidBody(after);
    if (after === before) return before;
    const named = yield* first(byNameKey, shop, nameKey(after.name));
    if (named && named.id !== id) return nameTaken;
    yield* fields.update({ shop, id }, before, after);
    yield* replaceMetadata(shop, "category", id, before.metadata, after.metadata);
    yield* publish(locked, author, [event(categoryUpdated, after, before)]);
    return after;
  }

  /**
   * Deletes a category if it is as expected and has no animals, or its animals move to another one. Returns null if it
   * was deleted. If more animals are left than one transaction moves, it moves some of those after the id `after`, and
   * returns the id after which to go on.
   */
  *delete(author: Author, id: bigint, moveTo: bigint | undefined, isExpected: Expectation, after?: bigint) {
    const { shop } = author;
    const locked = yield* lockShop(shop, this.#clock.now());
    const row = yield* first(byId, shop, id);
    if (!row) return notFound(id);
    const category = toCategory(row);
    if (!isExpected(category)) return versionMismatch("category", id);
    let moved: NewEvent[] = [];
    if (moveTo === undefined) {
      const animals = yield* animalsIn(locked, id);
      if (animals > 0n) {
        const who = animals === 1n ? "1 animal belongs" : `${animals} animals belong`;
        return failure(categoryInUse, `${who} to the category ${id}. Set moveTo to the category that they move to.`);
      }
    } else {
      if (moveTo === id) return targetDeleted;
      if (!(yield* first(byId, shop, moveTo))) {
        const message = `There is no category with the id ${moveTo} to move the animals to.`;
        return failure(moveTargetNotFound, message);
      }
      const part = yield* reassign(locked, id, moveTo, after);
      moved = part.moved ? [part.moved] : [];
      if (part.end !== undefined) {
        if (part.moved) yield* publish(locked, author, moved);
        return part.end;
      }
    }
    yield* all(remove, shop, id);
    yield* replaceMetadata(shop, "category", id, category.metadata, undefined);
    yield* all(noteDeletion, shop, id, category.name);
    yield* publish(locked, author, [...moved, event(categoryDeleted, category)]);
    return null;
  }

  /**
   * Moves the animals that `delete` has left, and deletes the category. Rejects with `StorageUnavailable` when no client
   * waits any longer; then a repeated deletion goes on.
   */
  async finishDeletion(author: Author, id: bigint, moveTo: bigint | undefined) {
    const end = this.#clock.monotonic() + RESPONSE_TIMEOUT;
    let after: bigint | undefined;
    while (this.#clock.monotonic() < end) {
      const from = after;
      const outcome = await this.#storage.write(() => this.delete(author, id, moveTo, () => true, from), author.shop);
      if (isFailure(outcome) && outcome.error === categoryNotFound) return null; // another request has deleted it
      if (typeof outcome !== "bigint") return outcome;
      after = outcome;
    }
    throw new StorageUnavailable(`The animals of the category ${id} were not moved in time.`);
  }

  /**
   * An id that no category has had and no animal refers to. The last one is remembered, so that smaller ids are not
   * searched again.
   */
  *#assignId(locked: LockedShop): Change<bigint> {
    const { shop } = locked;
    let id = ((yield* first(lastAssigned, shop)) as IdRow).id + 1n;
    for (;;) {
      const unused = ((yield* first(firstUnused, id, shop)) as IdRow).id;
      id = yield* firstUnreferenced(locked, unused);
      if (id === unused) break;
    }
    yield* all(noteAssigned, id, shop);
    return id;
  }
}

function notFound(id: bigint) {
  return failure(categoryNotFound, `No category has the id ${id}.`);
}

const nameTaken = failure(
  categoryNameTaken,
  "Another category already has this name, or one that differs only in letter case, white space or invisible characters.",
);

const targetDeleted = failure(
  moveTargetNotFound,
  "moveTo names the category that is being deleted. Choose another one.",
);
