import type { KeyBans } from "./bans.ts";

/** The scopes that an API key can have. */
export const scopes = ["read", "write", "admin"] as const;
export type Scope = (typeof scopes)[number];

declare const isShopNumber: unique symbol;
/** The internal number of a shop. No other number is taken for it. */
export type ShopNumber = number & { readonly [isShopNumber]: true };

/** The number of a shop as it is in a row. */
export function shopNumber(inRow: bigint | number): ShopNumber {
  return Number(inRow) as ShopNumber;
}

/** Which of an account's two shops a key is for: the live one, or the sandbox (`test`). */
export const modes = ["live", "test"] as const;
export type Mode = (typeof modes)[number];

/** A valid key: who sends a request with it, its bans, and what the account's plan allows. */
export interface Caller extends Quota, KeyBans {
  readonly keyId: string;
  /** The name of the key. */
  readonly name: string;
  /** Identifies the key in the store. It is never shown, as the number of the shop. */
  readonly digest: string;
  readonly accountId: string;
  readonly mode: Mode;
  /** The internal number of the shop that the key is for. */
  readonly shop: ShopNumber;
  readonly scopes: ReadonlySet<Scope>;
  /** The requests of the key in a minute, if it has a limit of its own; null if it has none. */
  readonly limitPerMinute: number | null;
  /** When the key expires, in Unix milliseconds; `Infinity` if it does not. */
  readonly expiresAt: number;
  /** When its last use was noted, in Unix milliseconds; `-Infinity` for a key that was never used. */
  lastUsedAt: number;
  /** True if the account is suspended: all requests of its keys are refused. */
  readonly isSuspended: boolean;
}

/** Identifies a shop to clients and operators: its account and its mode. Limits and usage are counted by it. */
export type ShopName = Pick<Caller, "accountId" | "mode">;

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
