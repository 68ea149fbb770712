import type { Quota } from "../../contract/quota.ts";
import type { Plan } from "./plans.ts";

/** A customer. Quotas count for all of its keys together. */
export interface Account extends Quota {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** When it was deleted, while something of it is left; its keys are not valid any more. Unix milliseconds. */
  readonly deletedAt: number | undefined;
  /** Since when its keys may do nothing; undefined where it is not suspended. Unix milliseconds. */
  readonly suspendedAt: number | undefined;
}

/** A wish that cannot be fulfilled, in words for the person who had it. */
export class AccountsError extends Error {
  override readonly name = "AccountsError";
}
