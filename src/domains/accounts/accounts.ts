import { addressQuota, type Quota } from "../../contract/caller.ts";

/** The plans (see docs/limits.md). `custom`: the quota is agreed with each account. */
export const plans = {
  free: addressQuota, // the same as without a key
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: "custom",
} as const satisfies Record<string, Quota | "custom">;

/** How many animals the live shop of a plan may hold. Undefined: any number, unless one is agreed. */
const animalsOf = { free: 10_000, pro: 100_000, business: 1_000_000, enterprise: undefined } as const;
/** How many animals a sandbox may hold at most. */
const ANIMALS_OF_SANDBOX = 10_000;

export type Plan = keyof typeof plans;
export const planNames = Object.keys(plans) as Plan[];

/** What is agreed with an account of the plan `enterprise`. */
export interface Agreement extends Quota {
  /** How many animals its live shop may hold; undefined for any number. */
  readonly animals?: number | undefined;
}

/** How many animals the shops of an account may hold; null for any number. `agreed` is for the plan `enterprise`. */
export function animalsAllowed(plan: Plan, agreed: number | undefined): { live: number | null; test: number } {
  const live = animalsOf[plan] ?? agreed ?? null;
  return { live, test: Math.min(live ?? ANIMALS_OF_SANDBOX, ANIMALS_OF_SANDBOX) };
}

/** A customer. Its live keys share its quota, and its test keys share a second, equal one. */
export interface Account extends Quota {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  /** How many animals its live shop may hold; undefined for any number. */
  readonly animals: number | undefined;
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
  return new OperatorError(
    "account_not_found",
    `There is no account ${id}.${id.startsWith("acc_") ? "" : " The command `accounts list` shows the ids of accounts."}`,
  );
}
