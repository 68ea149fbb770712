import type { ShopNumber } from "../../../contract/caller.ts";
import { INT64_MIN } from "../../../contract/schemas.ts";
import { together } from "../../../storage/combined-steps.ts";
import { type Condition, readPage } from "../../../storage/pages.ts";
import { change, type IdRow, query } from "../../../storage/statement.ts";
import { insertInto, integer, table } from "../../../storage/table.ts";
import { all, type Change, first, type Query } from "../../../storage/transaction.ts";
import { eventsOf, type NewEvent } from "../../events/new-event.ts";
import type { LockedShop } from "../../shops/locked-shop.ts";
import { petsReassigned } from "../pets.operations.ts";
import type { Reassignment } from "../pets.schemas.ts";
import { petTable } from "../pets.table.ts";

/** How many animals each category has. */
export const categoryAnimalTable = table(
  "category_animals",
  { shop: integer, category_id: integer, animals: integer },
  {
    key: ["shop", "category_id"],
    isUpdatedOften: true,
  },
);

const countByCategory = query<[shop: ShopNumber, categoryId: bigint], { animals: bigint }>(
  "SELECT animals FROM category_animals WHERE shop = $1 AND category_id = $2",
);
const reassignCategory = change<[to: bigint, shop: ShopNumber, from: bigint, first: bigint, last: bigint]>(
  "UPDATE pets SET category_id = $1 WHERE shop = $2 AND category_id = $3 AND id >= $4 AND id <= $5",
);
/** How many animals one transaction moves at most. */
const MOST_MOVED = 1_000;
/** Counts animals that have come to a category; below 0, those that have left it. */
export const countInCategory = insertInto(categoryAnimalTable, ["shop", "category_id", "animals"], {
  end: "ON CONFLICT (shop, category_id) DO UPDATE SET animals = category_animals.animals + excluded.animals",
});
const firstUnreferencedCategory = query<[from: bigint, shop: ShopNumber], IdRow>(`
  WITH RECURSIVE candidate (id) AS (
    SELECT CAST($1 AS BIGINT)
    UNION ALL
    SELECT id + 1 FROM candidate
    WHERE EXISTS (SELECT 1 FROM category_animals WHERE shop = $2 AND category_id = candidate.id AND animals > 0)
  )
  SELECT max(id) AS id FROM candidate
`);

const event = eventsOf<Reassignment>(({ from }) => ({ under: null, subjectId: String(from) }));

/** A part of the animals of a category has moved. */
interface MovedPets {
  /** The event, which must be published; absent if the part has no such animal. */
  readonly moved?: NewEvent;
  /** The id after which the next part starts; undefined if no animal is left. */
  readonly end: bigint | undefined;
}

/** Part of a transaction: how many animals refer to the category. */
export function* animalsIn({ shop }: LockedShop, categoryId: bigint): Query<bigint> {
  return (yield* first(countByCategory, shop, categoryId))?.animals ?? 0n;
}

/**
 * Part of a transaction: moves some animals of a category, those after the id `after`, to another one. Returns the
 * event, unless none has moved, and the id after which the next part starts, unless none is left.
 */
export function* reassign(locked: LockedShop, from: bigint, to: bigint, after: bigint | undefined): Change<MovedPets> {
  const animals = yield* animalsIn(locked, from);
  if (animals === 0n) return { end: undefined };
  const { shop } = locked;
  const scanned: Condition[] = [(bind) => `category_id = ${bind(from)}`];
  const list = { table: petTable, columns: [], scannedColumns: ["category_id"] as const, scanned, shop, after };
  const { items: ids, next } = yield* readPage({ ...list, limit: MOST_MOVED }, ({ id }: IdRow) => id);
  const [start, last] = [ids[0], ids.at(-1)];
  // At the end of the list, animals that have come to the category since it was begun are left.
  const isAll = BigInt(ids.length) === animals;
  const end = isAll ? undefined : (next ?? INT64_MIN);
  if (start === undefined || last === undefined) return { end };
  yield* all(reassignCategory, to, shop, from, start, last);
  yield* countInCategories(locked, [
    [from, -ids.length],
    [to, ids.length],
  ]);
  return { end, moved: event(petsReassigned, { from, to, animals: ids.length, firstPetId: start, lastPetId: last }) };
}

/** Part of a transaction: the first id, from this one on, that no animal refers to. */
export function* firstUnreferenced({ shop }: LockedShop, from: bigint): Query<bigint> {
  return ((yield* first(firstUnreferencedCategory, from, shop)) as IdRow).id;
}

/** Part of a transaction: counts animals that have come to categories or, below 0, left them. */
export function countInCategories({ shop }: LockedShop, changes: Iterable<readonly [bigint, number]>): Change<unknown> {
  return together([...changes].map(([id, animals]) => all(countInCategory, shop, id, animals)));
}
