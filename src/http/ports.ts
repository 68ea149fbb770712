import type { Scope } from "../contract/operation.ts";
import type { MaybePromise } from "../maybe-promise.ts";
import type { Quota } from "../quota.ts";

/** Who sends a request with a valid key, and what the account's plan allows. */
export interface Caller extends Quota {
  readonly keyId: string;
  readonly accountId: string;
  readonly scopes: ReadonlySet<Scope>;
}

/** Knows the API keys. */
export interface Authenticator {
  /** The caller whose key this is; undefined for a key that is not valid (any more). */
  authenticate(key: string): MaybePromise<Caller | undefined>;
}

/** What the limiter says of one request; the figures are those of the limit headers. */
export interface Admission {
  readonly verdict: "admitted" | "limited" | "banned";
  /** Requests that the window allows, of the window with the least remaining. */
  readonly limit: number;
  /** Requests left in that window after this one. */
  readonly remaining: number;
  /** When that window ends, in unix seconds. */
  readonly reset: number;
  /** Whole seconds until a request can be admitted again, at least 1; 0 when admitted. */
  readonly retryAfter: number;
}

/** Decides whether a request is admitted, and counts it, in one atomic step. */
export interface Limiter {
  /** For a request with a valid key: the account's windows, the key's strikes and bans. */
  admit(caller: Caller): MaybePromise<Admission>;
  /** For a request without a valid key: the bucket of its address. */
  admitAddress(address: string): MaybePromise<Admission>;
  /** The state of an address's bucket, counting nothing. */
  peekAddress(address: string): MaybePromise<Admission>;
}
