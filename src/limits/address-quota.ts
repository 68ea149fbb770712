import type { Quota } from "../contract/quota.ts";

/** What each address may send without a valid key: as much as an account of the smallest plan. */
export const addressQuota: Quota = { perMinute: 60, perDay: 1_000 };
