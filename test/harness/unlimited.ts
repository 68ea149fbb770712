import type { Quota } from "../../src/contract/caller.ts";

/** More requests than any test sends. */
export const UNLIMITED = 1_000_000_000;

/** Limits that no test reaches. */
export const unlimitedQuota: Quota = { perMinute: UNLIMITED, perDay: UNLIMITED };
