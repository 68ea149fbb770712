import type { Quota } from "./quota.ts";

/** The scopes that an API key can have. */
export const scopes = ["read", "write", "admin"] as const;
export type Scope = (typeof scopes)[number];

/** Which of an account's two shops a key is for: the live one, or the sandbox (`test`). */
export const modes = ["live", "test"] as const;
export type Mode = (typeof modes)[number];

/** Who sends a request with a valid key, and what the account's plan allows. */
export interface Caller extends Quota {
  readonly keyId: string;
  readonly accountId: string;
  readonly mode: Mode;
  /** The internal number of the shop that the key is for. It is never shown. */
  readonly shop: number;
  readonly scopes: ReadonlySet<Scope>;
  /** When the key expires, in Unix milliseconds; `Infinity` if it does not. */
  readonly expiresAt: number;
}

/** Identifies a shop to clients and operators: its account and its mode. Limits and usage are counted by it. */
export type ShopName = Pick<Caller, "accountId" | "mode">;
