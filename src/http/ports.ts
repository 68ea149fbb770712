import type { Caller, Change, Operation, ShopName } from "../contract/operation.ts";
import type { FreeQuota } from "../contract/quota.ts";
import type { MaybePromise } from "../timing/maybe-promise.ts";

export type { Caller, Mode, ShopName } from "../contract/operation.ts";

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

/** How one window of an account stands. */
export interface WindowStatus {
  /** Requests that the window allows. */
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  /** When it ends, in unix seconds. */
  readonly reset: number;
}

/** How a key and its account stand. */
export interface LimitStatus {
  readonly minute: WindowStatus;
  readonly day: WindowStatus;
  /** Requests that the key has sent too early after a 429, and how many of them bring a ban. */
  readonly strikes: number;
  readonly strikesForBan: number;
  /** When the ban that holds now ends, in unix seconds; undefined where there is none. */
  readonly banEnds: number | undefined;
  /** How long the key's next ban would last, in seconds. */
  readonly nextBan: number;
  /** How bans grow, in seconds: the first, the longest, and the time without a ban after which it starts anew. */
  readonly banSchedule: { readonly first: number; readonly longest: number; readonly forgottenAfter: number };
}

/** Decides whether a request is admitted, and counts it, in one atomic step. */
export interface Limiter {
  /** For a request with a valid key: the account's windows, the key's strikes and bans. */
  admit(caller: Caller): MaybePromise<Admission>;
  /**
   * For a request that costs no quota. While it is admitted, the figures are those of the shop and the key.
   * `free`: as many as the plan allows, in windows of their own, which each process counts for itself and which end
   * with it. `sandbox`: as many as `sandboxQuota` allows an account, by real time, counted like other requests.
   */
  admitFree(caller: Caller, quota: FreeQuota): MaybePromise<Admission>;
  /** How the key and its account stand, counting nothing. */
  peek(caller: Caller): MaybePromise<LimitStatus>;
  /**
   * Sets the clock of a sandbox so many milliseconds ahead of real time, never back. By it the sandbox's windows, strikes
   * and bans end; `reset` and `retryAfter` stay in real time. Once it resolves, the next request at any process that
   * shares the limits finds it so. Rejects with `StorageUnavailable` where that cannot be had; it can be called again.
   */
  advanceTo(sandbox: ShopName, ahead: number): Promise<void>;
  /**
   * Forgets both shops of an account, here and wherever it is kept. To be called once no process serves or saves
   * requests of its keys any more. Rejects with `StorageUnavailable` where some of it is left; it can be called again.
   */
  forget(accountId: string): Promise<void>;
  /** For a request without a valid key: the bucket of its address. */
  admitAddress(address: string): MaybePromise<Admission>;
  /** The state of an address's bucket, counting nothing. */
  peekAddress(address: string): MaybePromise<Admission>;
}

/** Counts what callers do. It is on the way of every request, so it takes no longer than a few look-ups. */
export interface Usage {
  /** Counts a request that was answered. `operation` is undefined where path and method name none. */
  count(caller: Caller, operation: Operation | undefined, status: number): void;
}

/** Is told of requests that were refused because of their key, for those who watch the service. */
export interface Abuse {
  /** The key is banned. */
  banned(caller: Caller, admission: Admission): void;
  /** The key is not valid. */
  invalidKey(address: string): void;
}

/** What is kept of a request that was answered. */
export interface AnswerRecord {
  /** Tells it from another request of the same name. */
  readonly fingerprint: string;
  readonly answer: string;
}

/** Keeps answers under the digests of requests' names, by shop, for as long as the contract says. All are parts of a change. */
export interface AnswerRecords {
  /**
   * Takes the name for the change that it is part of, and waits for one that has taken it and is not
   * committed. Gives the record where the name is known already. `now` is in unix milliseconds.
   */
  claim(shop: number, digest: string, fingerprint: string, now: number): Change<AnswerRecord | undefined>;
  /** Runs a change that would otherwise be the whole transaction, so that others can follow it. */
  around<T>(change: Change<T>): Change<T>;
  /** Keeps the answer of the change that has taken the name. */
  keep(shop: number, digest: string, answer: string): Change<void>;
  /** Gives back a name that was taken. */
  release(shop: number, digest: string): Change<void>;
}
