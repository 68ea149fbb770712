/** The new status of an animal, and why it gets it. */
export type AnimalChange =
  | [to: "pending", cause: "order_placed"]
  | [to: "sold", cause: "order_confirmed"]
  | [to: "available", cause: "order_cancelled" | "order_expired" | "order_returned"];

/** A change of an order by a client: the required status, the new status, and the new status of the animal. */
export interface Transition {
  readonly from: "placed" | "confirmed";
  readonly to: "confirmed" | "cancelled" | "returned";
  readonly animal: Readonly<AnimalChange>;
}

/** All changes of an order's status by clients. */
export const transitions = {
  confirm: { from: "placed", to: "confirmed", animal: ["sold", "order_confirmed"] },
  cancel: { from: "placed", to: "cancelled", animal: ["available", "order_cancelled"] },
  return: { from: "confirmed", to: "returned", animal: ["available", "order_returned"] },
} as const satisfies Readonly<Record<string, Transition>>;
