import { exactJson } from "../../contract/serialize.ts";
import { all, first, type Transaction } from "../../storage/transaction.ts";
import type { NewEvent } from "../events/new-event.ts";
import type { LockedShop } from "../shops/shops.store.ts";
import { petsReassigned } from "./pets.operations.ts";
import {
  countByCategory,
  countFewer,
  countMore,
  firstUnreferencedCategory,
  type IdRow,
  reassignCategory,
} from "./pets.statements.ts";

/** The animals of each category. All methods are parts of a transaction. */
export class PetsByCategory {
  /** The number of animals in the category. */
  *countIn({ shop }: LockedShop, categoryId: bigint): Transaction<bigint> {
    return (yield* first(countByCategory, shop, categoryId))?.animals ?? 0n;
  }

  /**
   * Moves all animals of one category to another. Returns the event, which the transaction must publish; undefined if the
   * category has no animals.
   */
  *reassign(locked: LockedShop, from: bigint, to: bigint): Transaction<NewEvent | undefined> {
    // The update scans all animals, so it is skipped if there is none to move.
    const animals = yield* this.countIn(locked, from);
    if (animals === 0n) return undefined;
    yield* all(reassignCategory, to, locked.shop, from);
    yield* moveCount(locked, from, to, animals);
    const data = exactJson({ from, to, animals });
    return { type: petsReassigned, petId: null, subjectId: String(from), data, previous: null };
  }

  /** The first category id, from this one on, that no animal refers to. */
  *firstUnreferenced({ shop }: LockedShop, from: bigint): Transaction<bigint> {
    return ((yield* first(firstUnreferencedCategory, from, shop)) as IdRow).id;
  }
}

/** Part of a transaction: counts animals that move from one category to another. */
export function* moveCount(
  { shop }: LockedShop,
  from: bigint,
  to: bigint,
  animals: bigint | number,
): Transaction<void> {
  yield* all(countFewer, animals, shop, from);
  yield* all(countMore, shop, to, animals);
}
