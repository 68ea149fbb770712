import type { Ban } from "../contract/bans.ts";
import type { Caller, SeparateQuota, ShopNumber } from "../contract/caller.ts";
import type { Failure } from "../contract/errors.ts";
import type { LimiterAdmission, LimitFigures, LimitReader } from "../contract/limits.ts";
import type { Operation } from "../contract/operation.ts";
import type { RequestStage } from "../contract/requests.ts";
import type { Change, Query, Read } from "../contract/steps.ts";
import type { MaybePromise } from "../timing/maybe-promise.ts";
import type { Payer } from "../timing/turns.ts";

// What the HTTP service needs from the other parts of the program. They implement it, so HTTP imports neither domains nor limits.

/** Knows the API keys. */
export interface Authenticator {
  /** The caller with this key. A failure says why there is none; undefined if it is a key of nobody. */
  authenticate(key: string): MaybePromise<Caller | Failure | undefined>;
  /** The current state of a caller whose key was valid before. The results are those of `authenticate`. */
  authenticateAgain(caller: Caller): MaybePromise<Caller | Failure | undefined>;
  /**
   * Bans the key of a caller, which has sent its last strike, unless it is banned already. Undefined if the store cannot
   * be changed.
   */
  ban(caller: Caller): Promise<Ban | undefined>;
  /**
   * Grows whenever keys may have changed, here or in another process. Read it before `authenticate`: a change during the
   * look-up is then noticed.
   */
  readonly version: number;
}

/** The key is banned. */
export interface Banned extends LimitFigures {
  readonly verdict: "banned";
  /** As in `Limited`. */
  readonly retryAfter: number;
  readonly window?: never;
  readonly isLastStrike?: never;
}

/** The decision about one request. */
export type Admission = LimiterAdmission | Banned;

/** Decides whether a request is admitted, and counts it, in one atomic step. */
export interface Limiter extends LimitReader {
  /** For a request with a valid key: the windows of the shop and the key's strikes. */
  admit(caller: Caller): MaybePromise<LimiterAdmission>;
  /**
   * For a request with a separate quota: as large as the quota of the plan (`plan`), or `sandboxQuota` for each account
   * (`sandbox`). If it is admitted, the `Admission` shows the normal windows of the shop.
   */
  admitSeparately(caller: Caller, quota: SeparateQuota): MaybePromise<LimiterAdmission>;
  /** For a request without a valid key: the window of its address. */
  admitAddress(address: string): MaybePromise<LimiterAdmission>;
  /** The state of an address's window, without counting a request. */
  peekAddress(address: string): MaybePromise<LimiterAdmission>;
}

/** Counts requests. It runs on every request, so it must cost no more than a few look-ups. */
export interface Usage {
  /** Counts a finished request. `operation` is undefined if path and method match none. */
  count(caller: Caller, operation: Operation | undefined, status: number): void;
}

/** A request that failed, or any but a GET, for its record. It holds neither the body nor the key. */
export interface CompletedRequest {
  readonly id: string;
  readonly clientRequestId: string | undefined;
  /** Undefined for a request that was not identified. That of a key which was valid once belongs to `failed.key`. */
  readonly caller: Caller | undefined;
  /** Undefined if addresses are not recorded. */
  readonly address: string | undefined;
  readonly method: string;
  readonly operation: Operation | undefined;
  /** The path with its ids; undefined if an id is malformed. */
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

export interface RequestRecords {
  /**
   * True if another request of this key, or of an anonymous client at an address, should be recorded. It runs for each
   * such request, so it must cost no more than a few look-ups.
   */
  accepts(client: Pick<Caller, "keyId"> | string, hasFailed: boolean): boolean;
  /** Records a request for which `accepts` returned true. */
  add(request: CompletedRequest): void;
}

/** The storage, as far as requests need it. */
export interface Store {
  /** `payer` is charged for the time: see `Turns`. */
  read<T>(steps: Read<T>, payer: Payer): MaybePromise<T>;
  /** Runs a change, perhaps more than once. Resolves when it is on disk. */
  write<T>(change: () => Change<T>, payer: Payer): Promise<T>;
  /** See `ChangesOfStore.versionOf`. */
  versionOf(shop: ShopNumber): number | undefined;
}

/** A stored response. */
export interface StoredResponse {
  /** Distinguishes the request from other requests with the same key. */
  readonly fingerprint: string;
  readonly response: string;
}

/**
 * Stores responses by shop and digest of the idempotency key, for the time that the contract states. All methods are
 * parts of a transaction.
 */
export interface StoredResponses {
  /** The stored response, if there is one that has not expired. */
  find(shop: ShopNumber, digest: string): Query<StoredResponse | undefined>;
  /**
   * Stores the response of the change before it, at `now` in Unix milliseconds. Waits for another transaction that has
   * stored one and is not committed. Returns false if there is one: then the change must be undone.
   */
  add(shop: ShopNumber, digest: string, stored: StoredResponse, now: number): Change<boolean>;
  /** Replaces the stored response, which is empty. */
  complete(shop: ShopNumber, digest: string, response: string): Change<void>;
}
