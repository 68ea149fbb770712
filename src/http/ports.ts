import type { Caller, ShopName } from "../contract/caller.ts";
import type { Change } from "../contract/change.ts";
import type { Failure } from "../contract/errors.ts";
import type { Operation } from "../contract/operation.ts";
import type { FreeQuota } from "../contract/quota.ts";
import type { RequestStage } from "../contract/request-stages.ts";
import type { MaybePromise } from "../timing/maybe-promise.ts";

export type { Caller, Mode, ShopName } from "../contract/caller.ts";

/** A caller as the service knows it. */
export interface KnownCaller extends Caller {
  /** True if the account is suspended: no request of its keys is carried out. */
  readonly isSuspended: boolean;
}

/** Knows the API keys. */
export interface Authenticator {
  /** The caller whose key this is; undefined for a key that is not valid (any more). */
  authenticate(key: string): MaybePromise<KnownCaller | undefined>;
  /** The caller as it is now, who had a valid key before; undefined where the key is not valid any more. */
  authenticateAgain(caller: Caller): MaybePromise<KnownCaller | undefined>;
  /** Grows whenever keys may have changed, here or in another process. */
  readonly changes: number;
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
  /** How bans grow, in seconds: the first, the longest, and the time without a ban after which it starts again. */
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
   * Sets the clock of a sandbox this many milliseconds ahead of real time, never back. By it the sandbox's windows, strikes
   * and bans end; `reset` and `retryAfter` stay in real time. Once it resolves, the next request at any process that
   * shares the limits finds it so. Rejects with `StorageUnavailable` where that cannot be had; it can be called again.
   */
  advanceTo(sandbox: ShopName, ahead: number): Promise<void>;
  /**
   * Deletes both shops of an account, here and wherever they are stored. To be called once no process serves or saves
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
  /** Counts a finished request. `operation` is undefined where path and method name none. */
  count(caller: Caller, operation: Operation | undefined, status: number): void;
}

/** What is recorded of a request that changed something or failed. It holds neither its body nor its key. */
export interface CompletedRequest {
  readonly id: string;
  readonly clientRequestId: string | undefined;
  /** Undefined for a request that was not identified. */
  readonly caller: Caller | undefined;
  /** Undefined where addresses are not written down. */
  readonly address: string | undefined;
  readonly method: string;
  readonly operation: Operation | undefined;
  /** The path of the operation with its ids; undefined where one of them has no plain form. */
  readonly path: string | undefined;
  readonly status: number;
  readonly failed: Failure | undefined;
  /** The stage that it failed in; undefined for a success. */
  readonly stage: RequestStage | undefined;
  readonly admission: Admission | undefined;
  /** True if its response is a replay. */
  readonly isReplay: boolean;
  /** Milliseconds. */
  readonly duration: number;
}

/** Keeps records of requests that changed something or failed. */
export interface RequestRecords {
  /**
   * True if one more request is to be recorded now: of this caller, or of an anonymous client at an address. It is asked
   * for each such request, so it takes no longer than a few look-ups.
   */
  takes(client: Caller | string, hasFailed: boolean): boolean;
  /** Records a request that was taken. */
  add(request: CompletedRequest): void;
}

/** Records requests that were refused because of their key, for monitoring. */
export interface Abuse {
  /** The key is banned. */
  banned(caller: Caller, admission: Admission): void;
  /** The key is not valid. */
  invalidKey(address: string): void;
}

/** A stored response. */
export interface StoredResponse {
  /** Tells it from another request of the same name. */
  readonly fingerprint: string;
  readonly response: string;
}

/** Stores responses under the digests of requests' names, by shop, for as long as the contract says. All are parts of a change. */
export interface StoredResponses {
  /**
   * Claims the name for the change that it is part of, and waits for one that has claimed it and is not
   * committed. Returns the record where the name is known already. `now` is in unix milliseconds.
   */
  claim(shop: number, digest: string, fingerprint: string, now: number): Change<StoredResponse | undefined>;
  /** Runs a change that would otherwise end the transaction, so that other steps can follow it. */
  around<T>(change: Change<T>): Change<T>;
  /** Stores the response of the change that claimed the name. */
  keep(shop: number, digest: string, response: string): Change<void>;
  /** Moves the stored response to another shop. */
  move(shop: number, digest: string, to: number): Change<void>;
  /** Releases a claimed name. */
  release(shop: number, digest: string): Change<void>;
}
