import type { Transaction } from "../../storage/transaction.ts";
import type { NewEvent } from "../events/new-event.ts";
import type { LockedShop } from "../shops/shops.store.ts";
import type { PetChange } from "./order-changes.ts";

/** What orders may do to the animals that they are for. */
export interface OrderedPets {
  /**
   * Part of a transaction: gives an animal another status, if its own rules allow that for this cause. Returns the event
   * that records it, which is not published yet.
   */
  changeStatus(
    shop: LockedShop,
    petId: bigint,
    ...change: PetChange
  ): Transaction<NewEvent | "not found" | RefusedTransition>;
}

/**
 * The animal's status, `from`, does not allow the change. `PetStore` returns the same form. It is declared here too,
 * because `orders/` does not import `pets/`.
 */
export interface RefusedTransition {
  readonly refused: "transition";
  readonly from: string | undefined;
}
