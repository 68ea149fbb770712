import { addressQuota, type Quota } from "../../contract/caller.ts";

/** The plans (see docs/limits.md). `custom`: the quota is agreed with each account. */
export const plans = {
  free: addressQuota, // the same as without a key
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: "custom",
} as const satisfies Record<string, Quota | "custom">;

export type Plan = keyof typeof plans;
export const planNames = Object.keys(plans) as Plan[];

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

/**
 * A change that a store refuses to the operator. The message is for the operator. Commands throw `CommandFailed`, which
 * stores do not know.
 */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
  /** Machine-readable, snake_case: `account_not_found`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export function noSuchAccount(id: string): OperatorError {
  return new OperatorError("account_not_found", `There is no account ${id}.`);
}
