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
