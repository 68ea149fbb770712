import { INT64_MIN } from "../../contract/schemas.ts";
import { type Condition, readPage } from "../../storage/pages.ts";
import { change, type IdRow, query } from "../../storage/statement.ts";
import { all, type Change, first, type Query } from "../../storage/transaction.ts";
import { eventsOf, type NewEvent } from "../events/new-event.ts";
import type { LockedShop } from "../shops/figures.ts";
import { petsReassigned } from "./pets.operations.ts";
import type { Reassignment } from "./pets.schemas.ts";

const countByCategory = query<[shop: number, categoryId: bigint], { animals: bigint }>(
  "SELECT animals FROM category_animals WHERE shop = $1 AND category_id = $2",
);
const reassignCategory = change<[to: bigint, shop: number, from: bigint, first: bigint, last: bigint]>(
  "UPDATE pets SET category_id = $1 WHERE shop = $2 AND category_id = $3 AND id >= $4 AND id <= $5",
);
/** How many animals one transaction moves at most. */
const MOST_MOVED = 1_000;
/** `$1` is the number of animals that left the category. A trigger counts added animals. */
export const countFewer = change<[animals: number | bigint, shop: number, categoryId: bigint]>(
  "UPDATE category_animals SET animals = animals - $1 WHERE shop = $2 AND category_id = $3",
);
const countMore = change<[shop: number, categoryId: bigint, animals: number | bigint]>(
  `INSERT INTO category_animals (shop, category_id, animals) VALUES ($1, $2, $3)
   ON CONFLICT (shop, category_id) DO UPDATE SET animals = category_animals.animals + excluded.animals`,
);
const firstUnreferencedCategory = query<[from: bigint, shop: number], IdRow>(`
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

/** The `CategorizedPets` of the categories, which says what each function does. */
export const petsByCategory = {
  *countIn({ shop }: LockedShop, categoryId: bigint): Query<bigint> {
    return (yield* first(countByCategory, shop, categoryId))?.animals ?? 0n;
  },

  *reassign(locked: LockedShop, from: bigint, to: bigint, after: bigint | undefined): Change<MovedPets> {
    const animals = yield* petsByCategory.countIn(locked, from);
    if (animals === 0n) return { end: undefined };
    const { shop } = locked;
    const scanned: Condition[] = [(bind) => `category_id = ${bind(from)}`];
    const list = { table: "pets", columns: [], scannedColumns: ["category_id"], scanned, shop, after };
    const { items: ids, next } = yield* readPage({ ...list, limit: MOST_MOVED }, ({ id }: IdRow) => id);
    const [start, last] = [ids[0], ids.at(-1)];
    // At the end of the list, animals that have come to the category since it was begun are left.
    const isAll = BigInt(ids.length) === animals;
    const end = isAll ? undefined : (next ?? INT64_MIN);
    if (start === undefined || last === undefined) return { end };
    yield* all(reassignCategory, to, shop, from, start, last);
    yield* moveCount(locked, from, to, ids.length);
    return { end, moved: event(petsReassigned, { from, to, animals: ids.length, firstPetId: start, lastPetId: last }) };
  },

  *firstUnreferenced({ shop }: LockedShop, from: bigint): Query<bigint> {
    return ((yield* first(firstUnreferencedCategory, from, shop)) as IdRow).id;
  },
};

/** Part of a transaction: counts animals that move from one category to another. */
export function* moveCount({ shop }: LockedShop, from: bigint, to: bigint, animals: bigint | number): Change<void> {
  yield* all(countFewer, animals, shop, from);
  yield* all(countMore, shop, to, animals);
}
