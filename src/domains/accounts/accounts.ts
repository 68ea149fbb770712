import type { Quota } from "../../contract/caller.ts";
import type { Plan } from "./plans.ts";

/** A customer. Its live keys share its quota, and its test keys share a second, equal one. */
export interface Account extends Quota {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Set while data of a deleted account remains: when it was deleted, in Unix milliseconds. Its keys are invalid. */
  readonly deletedAt: number | undefined;
  /** When it was suspended, in Unix milliseconds; undefined if it is not suspended. */
  readonly suspendedAt: number | undefined;
}
