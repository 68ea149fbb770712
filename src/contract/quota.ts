/** How many requests may be sent. Both are integers of at least 1. */
export interface Quota {
  /** In a minute. */
  readonly perMinute: number;
  /** In a UTC calendar day. */
  readonly perDay: number;
}

/**
 * The quota of an operation that does not count in the windows of the shop: another one as large as the plan's, or
 * `sandboxQuota`.
 */
export type SeparateQuota = "plan" | "sandbox";

/** Requests for sandbox operations that an account may send, all together. There is no daily limit. */
export const sandboxQuota: Quota = { perMinute: 20, perDay: Number.MAX_SAFE_INTEGER };

/** The quota of anonymous clients, for each address: also that of the smallest plan. */
export const addressQuota: Quota = { perMinute: 60, perDay: 1_000 };
