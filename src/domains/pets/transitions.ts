import type { PetStatus, StatusCause } from "./pets.operations.ts";

/** One change of status that is allowed, and what may cause it. `from` is undefined where there is no status yet. */
export interface Transition {
  readonly from: PetStatus | undefined;
  readonly to: PetStatus;
  readonly causes: readonly StatusCause[];
}

/** All changes of status that are allowed. A status that was set is never removed. */
export const transitions: readonly Transition[] = [
  { from: undefined, to: "available", causes: ["updated"] },
  { from: undefined, to: "pending", causes: ["updated"] },
  { from: undefined, to: "sold", causes: ["updated"] },
  { from: "available", to: "pending", causes: ["updated", "order_placed"] },
  { from: "available", to: "sold", causes: ["updated"] },
  { from: "pending", to: "available", causes: ["updated", "order_cancelled", "order_expired"] },
  { from: "pending", to: "sold", causes: ["updated", "order_confirmed"] },
  { from: "sold", to: "available", causes: ["order_returned"] },
];

/** A change of status that is not allowed: what the status is, and what the same cause could make of it. */
export interface Refusal {
  readonly refused: "transition";
  readonly from: PetStatus | undefined;
  readonly allowed: readonly PetStatus[];
}

/** Why the change is not allowed; undefined if it is. */
export function refusalOf(from: PetStatus | undefined, to: PetStatus, cause: StatusCause): Refusal | undefined {
  const allowed = transitions.filter((one) => one.from === from && one.causes.includes(cause)).map((one) => one.to);
  return allowed.includes(to) ? undefined : { refused: "transition", from, allowed };
}
