/** The new status of an animal, and why it gets it. */
export type PetChange =
  | [to: "pending", cause: "order_placed"]
  | [to: "sold", cause: "order_confirmed"]
  | [to: "available", cause: "order_cancelled" | "order_expired" | "order_returned"];

/** A change of an order by a client: the required status, the new status, and the new status of the animal. */
export interface OrderChange {
  readonly from: "placed" | "confirmed";
  readonly to: "confirmed" | "cancelled" | "returned";
  readonly pet: Readonly<PetChange>;
}

/** All changes of an order's status by clients. */
export const orderChanges = {
  confirm: { from: "placed", to: "confirmed", pet: ["sold", "order_confirmed"] },
  cancel: { from: "placed", to: "cancelled", pet: ["available", "order_cancelled"] },
  return: { from: "confirmed", to: "returned", pet: ["available", "order_returned"] },
} as const satisfies Readonly<Record<string, OrderChange>>;
