import type { Quota } from "../contract/quota.ts";

/** The quota of each address without a valid key: the same as the smallest plan. */
export const addressQuota: Quota = { perMinute: 60, perDay: 1_000 };
