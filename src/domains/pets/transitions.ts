import type { PetStatus } from "./pets.schemas.ts";

/** How an order changes an animal's status. `order_sold` is one that was placed and confirmed at once. */
export type StatusCause =
  | "order_placed"
  | "order_sold"
  | "order_confirmed"
  | "order_cancelled"
  | "order_expired"
  | "order_returned";

/** A change of status by orders, and its causes. */
interface Transition {
  readonly from: PetStatus;
  readonly to: PetStatus;
  readonly causes: readonly StatusCause[];
}

/** All changes of status by orders. A client may make any change, unless an order decides the status (`PetChecks`). */
export const transitions: readonly Transition[] = [
  { from: "available", to: "pending", causes: ["order_placed"] },
  { from: "available", to: "sold", causes: ["order_sold"] },
  { from: "pending", to: "available", causes: ["order_cancelled", "order_expired"] },
  { from: "pending", to: "sold", causes: ["order_confirmed"] },
  { from: "sold", to: "available", causes: ["order_returned"] },
];

/** True if a change by an order is allowed. */
export function isAllowed(from: PetStatus | undefined, to: PetStatus, cause: StatusCause): boolean {
  return transitions.some((one) => one.from === from && one.to === to && one.causes.includes(cause));
}
