import { eventsOf } from "../events/new-event.ts";
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

/** Makes the events of an order. */
export const orderEvent = eventsOf<StoreOrder>(({ id, petId }) => ({ petId, subjectId: String(id) }));
