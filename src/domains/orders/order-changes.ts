import type { Change } from "../../storage/transaction.ts";
import { eventsOf, type NewEvent } from "../events/new-event.ts";
import type { LockedShop } from "../shops/figures.ts";
import type { Price } from "../shops/price.schemas.ts";
import { orderCancelled, orderConfirmed, orderReturned } from "./orders.operations.ts";
import type { StoreOrder } from "./orders.schemas.ts";

/** The new status of an animal, and why it gets it. */
export type PetChange =
  | [to: "pending", cause: "order_placed"]
  | [to: "sold", cause: "order_confirmed" | "order_sold"]
  | [to: "available", cause: "order_cancelled" | "order_expired" | "order_returned"];

/** A change of an order by a client: the required status, the new one, its event, and the new status of the animal. */
export interface OrderChange {
  readonly from: "placed" | "confirmed";
  readonly to: "confirmed" | "cancelled" | "returned";
  readonly event: typeof orderConfirmed | typeof orderCancelled | typeof orderReturned;
  readonly pet: Readonly<PetChange>;
}

/** All changes of an order's status by clients. */
export const orderChanges = {
  confirm: { from: "placed", to: "confirmed", event: orderConfirmed, pet: ["sold", "order_confirmed"] },
  cancel: { from: "placed", to: "cancelled", event: orderCancelled, pet: ["available", "order_cancelled"] },
  return: { from: "confirmed", to: "returned", event: orderReturned, pet: ["available", "order_returned"] },
} as const satisfies Readonly<Record<string, OrderChange>>;

/** What orders may do to the animals that they are for. */
export interface OrderedPets {
  /**
   * Part of a transaction: gives an animal another status, if its own rules allow that for this cause. Returns the animal,
   * and the event that records it, which is not published yet.
   */
  changeStatus(
    shop: LockedShop,
    petId: bigint,
    ...change: PetChange
  ): Change<ChangedPet | "not found" | RefusedTransition>;
}

interface ChangedPet {
  readonly pet: { readonly name: string; readonly categoryId: bigint; readonly price?: Price };
  readonly event: NewEvent;
}

/**
 * The animal's status, `from`, does not allow the change. `PetStore` returns the same form. It is declared here too,
 * because `orders/` does not import `pets/`.
 */
export interface RefusedTransition {
  readonly refused: "transition";
  readonly from: string | undefined;
}

/** Makes the events of an order. */
export const orderEvent = eventsOf<StoreOrder>(({ id, petId }) => ({ petId, subjectId: String(id) }));
