import type { MaybePromise } from "../timing/maybe-promise.ts";
import type { Caller } from "./caller.ts";

/** The windows that count requests: day and minute of the account, and the minute of a key that has its own limit. */
export type WindowName = "day" | "minute" | "key";

/** What every decision has: the values of the limit headers. */
export interface LimitFigures {
  /** The maximum number of requests in the window with the least remaining. */
  readonly limit: number;
  /** Requests left in that window after this one. */
  readonly remaining: number;
  /** When that window ends, in Unix seconds. */
  readonly reset: number;
}

/** The request may go on. */
interface Admitted extends LimitFigures {
  readonly verdict: "admitted";
  readonly retryAfter: 0;
  readonly window?: never;
  readonly isLastStrike?: never;
}

/** A window is used up. */
export interface Limited extends LimitFigures {
  readonly verdict: "limited";
  /** Whole seconds until a request can be admitted again, at least 1. */
  readonly retryAfter: number;
  readonly window: WindowName;
  /** True if the request was the last strike of its key, which is to be banned. The limiter has forgotten the strikes. */
  readonly isLastStrike?: true;
}

/** The decision of a limiter, which bans nobody. */
export type LimiterAdmission = Admitted | Limited;

/** The state of one window of a shop. */
export interface WindowStatus {
  /** The maximum number of requests in the window. */
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  /** When it ends, in Unix seconds. */
  readonly reset: number;
}

/** The limits of a key and its shop, by `WindowName`. */
export interface LimitStatus {
  readonly minute: WindowStatus;
  readonly day: WindowStatus;
  /** The key's own minute, if it has one. */
  readonly key?: WindowStatus;
  /** Requests that the key has sent too early after a 429. */
  readonly strikes: number;
}

/** Knows what is left of the limits. */
export interface LimitReader {
  /** The limits of the key and its shop, without counting a request. */
  limitStatus(caller: Caller): MaybePromise<LimitStatus>;
}
