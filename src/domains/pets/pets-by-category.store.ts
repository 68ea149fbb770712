import { change, type IdRow, query } from "../../storage/statement.ts";
import { all, type Change, first, type Query } from "../../storage/transaction.ts";
import { eventsOf, type NewEvent } from "../events/new-event.ts";
import type { LockedShop } from "../shops/figures.ts";
import { petsReassigned } from "./pets.operations.ts";
import type { Reassignment } from "./pets.schemas.ts";

const countByCategory = query<[shop: number, categoryId: bigint], { animals: bigint }>(
  "SELECT animals FROM category_animals WHERE shop = $1 AND category_id = $2",
);
const reassignCategory = change<[to: bigint, shop: number, from: bigint]>(
  "UPDATE pets SET category_id = $1 WHERE shop = $2 AND category_id = $3",
);
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

const event = eventsOf<Reassignment>(({ from }) => ({ petId: null, subjectId: String(from) }));

/** The `CategorizedPets` of the categories, which says what each function does. */
export const petsByCategory = {
  *countIn({ shop }: LockedShop, categoryId: bigint): Query<bigint> {
    return (yield* first(countByCategory, shop, categoryId))?.animals ?? 0n;
  },

  *reassign(locked: LockedShop, from: bigint, to: bigint): Change<NewEvent | undefined> {
    // The update scans all animals, so it is skipped if there is none to move.
    const animals = yield* petsByCategory.countIn(locked, from);
    if (animals === 0n) return undefined;
    yield* all(reassignCategory, to, locked.shop, from);
    yield* moveCount(locked, from, to, animals);
    return event(petsReassigned, { from, to, animals: Number(animals) });
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
