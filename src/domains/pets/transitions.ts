import type { PetStatus } from "./pets.schemas.ts";

/**
 * The cause of a change of an animal's status: a client (`updated`) or an order. `order_sold` is one that was placed and
 * confirmed at once.
 */
export type StatusCause =
  | "updated"
  | "order_placed"
  | "order_sold"
  | "order_confirmed"
  | "order_cancelled"
  | "order_expired"
  | "order_returned";

/** An allowed change of status and its causes. `from` is undefined if there is no status yet. */
interface Transition {
  readonly from: PetStatus | undefined;
  readonly to: PetStatus;
  readonly causes: readonly StatusCause[];
}

/**
 * The allowed changes of status. Only those by orders are looked up here (`isAllowed`). A client may
 * make every change (`updated`), unless an order decides the status (`PetChecks`). A status is never removed.
 */
export const transitions: readonly Transition[] = [
  { from: undefined, to: "available", causes: ["updated"] },
  { from: undefined, to: "pending", causes: ["updated"] },
  { from: undefined, to: "sold", causes: ["updated"] },
  { from: "available", to: "pending", causes: ["updated", "order_placed"] },
  { from: "available", to: "sold", causes: ["updated", "order_sold"] },
  { from: "pending", to: "available", causes: ["updated", "order_cancelled", "order_expired"] },
  { from: "pending", to: "sold", causes: ["updated", "order_confirmed"] },
  { from: "sold", to: "available", causes: ["updated", "order_returned"] },
  { from: "sold", to: "pending", causes: ["updated"] },
];

/** True if a change by an order is allowed. */
export function isAllowed(from: PetStatus | undefined, to: PetStatus, cause: StatusCause): boolean {
  return transitions.some((one) => one.from === from && one.to === to && one.causes.includes(cause));
}
