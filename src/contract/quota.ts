/** How many requests may be sent. Both are integers of at least 1. */
export interface Quota {
  /** In a minute. */
  readonly perMinute: number;
  /** In a UTC calendar day. */
  readonly perDay: number;
}

/** The separate limits of operations that cost no quota: see `Operation`. */
export type SeparateQuota = "free" | "sandbox";

/** Requests for sandbox operations that an account may send, all together. There is no daily limit. */
export const sandboxQuota: Quota = { perMinute: 20, perDay: Number.MAX_SAFE_INTEGER };
