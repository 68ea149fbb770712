import {
  addressQuota,
  type Caller,
  type Quota,
  type SeparateQuota,
  type ShopName,
  sandboxQuota,
} from "../contract/caller.ts";
import type { Admission, Limiter, LimitStatus, WindowStatus } from "../http/interfaces.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import { type Decision, refusal, roomIn, SANDBOX_MINUTES, type Sender, seconds, type Window } from "./windows.ts";

/** Gets an answer from a decision. `position` is the place of a request among those that it decides, from 0. */
export type Read<T> = (decision: Decision, quota: Quota, position: number) => T;

/** Counts requests. */
export interface Counts {
  /** Decides on a request and counts it, in one atomic step. With 0 requests, nothing is counted. */
  admit<T>(sender: Sender, requests: 0 | 1, read: Read<T>): MaybePromise<T>;
  /** All windows of a sandbox, and denials of its keys, end this many milliseconds earlier; its real minute does not. */
  bringNearer(accountId: string, milliseconds: number): Promise<void>;
  /** Forgets all counts of an account. */
  forget(accountId: string): Promise<void>;
}

/** Says what is counted for each request. The counts decide. */
export class WindowLimiter implements Limiter {
  readonly #counts: Counts;

  constructor(counts: Counts) {
    this.#counts = counts;
  }

  admit(caller: Caller): MaybePromise<Admission> {
    return this.#counts.admit(shopOf(caller), 1, admissionOf);
  }

  admitSeparately(caller: Caller, separate: SeparateQuota): MaybePromise<Admission> {
    const { accountId: owner, mode } = caller;
    const sender: Sender =
      separate === "sandbox"
        ? { kind: "sandbox", owner, keyId: "", quota: sandboxQuota }
        : { kind: `${mode}-plan`, owner, keyId: "", quota: caller };
    const counted = this.#counts.admit(sender, 1, admissionOf);
    const shown = this.#counts.admit(shopOf(caller), 0, currentFigures);
    return whenReady(counted, (admission) => (admission.verdict === "limited" ? admission : shown));
  }

  limitStatus(caller: Caller): MaybePromise<LimitStatus> {
    return this.#counts.admit(shopOf(caller), 0, statusOf);
  }

  admitAddress(address: string): MaybePromise<Admission> {
    return this.#counts.admit(addressOf(address), 1, admissionOf);
  }

  peekAddress(address: string): MaybePromise<Admission> {
    return this.#counts.admit(addressOf(address), 0, currentFigures);
  }

  waiting({ accountId: owner }: ShopName): MaybePromise<{ count: number; next: number }> {
    return this.#counts.admit({ kind: "test", owner, keyId: "", quota: addressQuota }, 0, waitingOf);
  }

  bringNearer({ accountId, mode }: ShopName, milliseconds: number): Promise<void> {
    if (mode !== "test") throw new TypeError("Only a sandbox can be fast-forwarded.");
    return this.#counts.bringNearer(accountId, milliseconds);
  }

  forget(accountId: string): Promise<void> {
    return this.#counts.forget(accountId);
  }
}

function shopOf(caller: Caller): Sender {
  return { kind: caller.mode, owner: caller.accountId, keyId: caller.keyId, quota: caller };
}

function addressOf(address: string): Sender {
  return { kind: "address", owner: address, keyId: "", quota: addressQuota };
}

/** Whether a request is admitted, with the figures that it shows. Each value of `remaining` appears once. */
export function admissionOf(decision: Decision, quota: Quota, position: number): Admission {
  if (position < decision.admitted) return admitted(decision, quota, decision.admitted - 1 - position);
  const limited = refusal(decision, quota);
  const isLastStrike = position === decision.admitted + decision.lastStrike - 1;
  return isLastStrike ? { ...limited, isLastStrike } : limited;
}

/** The figures of the window with the least remaining; of the day in a tie. */
function currentFigures(decision: Decision, quota: Quota): Admission {
  return admitted(decision, quota, 0);
}

/** The figures before `later` requests were admitted. */
function admitted(decision: Decision, { perMinute, perDay }: Quota, later: number): Admission {
  const { minute, day, realMinute, weight } = decision;
  let [limit, { ends }] = [perDay, day];
  let room = roomIn(day, perDay, weight);
  const inMinute = roomIn(minute, perMinute, weight);
  if (inMinute < room) [limit, ends, room] = [perMinute, minute.ends, inMinute];
  if (realMinute) {
    const realLimit = SANDBOX_MINUTES * perMinute;
    const inRealMinute = roomIn(realMinute, realLimit, weight);
    if (inRealMinute < room) [limit, ends, room] = [realLimit, realMinute.ends, inRealMinute];
  }
  return { verdict: "admitted", limit, remaining: weight * (room + later), reset: seconds(ends), retryAfter: 0 };
}

/** The limits of a key and its shop. */
function statusOf({ minute, day, strikes, weight }: Decision, quota: Quota): LimitStatus {
  return {
    minute: windowStatus(minute, quota.perMinute, weight),
    day: windowStatus(day, quota.perDay, weight),
    strikes,
  };
}

/** How many windows run, and when the first one ends, in Unix milliseconds. */
function waitingOf({ minute, day }: Decision): { readonly count: number; readonly next: number } {
  const running = [minute, day].filter(({ used }) => used > 0);
  return { count: running.length, next: Math.min(...running.map(({ ends }) => ends)) };
}

/** After a change of plan, `used` can exceed `limit`. */
function windowStatus(window: Window, limit: number, weight: number): WindowStatus {
  const remaining = weight * roomIn(window, limit, weight);
  return { limit, used: Math.max(window.used, limit - remaining), remaining, reset: seconds(window.ends) };
}
