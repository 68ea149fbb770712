import { strikesForBan } from "../contract/bans.ts";
import { addressQuota, type Caller, type Quota, type SeparateQuota, sandboxQuota } from "../contract/caller.ts";
import type { LimiterAdmission, LimitStatus, WindowStatus } from "../contract/limits.ts";
import type { Limiter } from "../http/interfaces.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import {
  type Decision,
  type Kind,
  type LimitedWindow,
  limitsOf,
  refusal,
  roomIn,
  type Sender,
  seconds,
} from "./windows.ts";

/** Gets an answer from a decision. `position` is the place of a request among those that it decides, from 0. */
export type ReadDecision<T> = (decision: Decision, position: number) => T;

/** Counts requests. */
export interface Counts {
  /** Decides on a request and counts it, in one atomic step. With 0 requests, nothing is counted. */
  admit<T>(sender: Sender, requests: 0 | 1, read: ReadDecision<T>): MaybePromise<T>;
  /** Forgets the counts of an account in memory and on the shared server, before its rows are deleted. */
  forget(accountId: string): Promise<void>;
}

/** Says what is counted for each request. The counts decide. */
export class WindowLimiter implements Limiter {
  readonly #counts: Counts;

  constructor(counts: Counts) {
    this.#counts = counts;
  }

  admit(caller: Caller): MaybePromise<LimiterAdmission> {
    return this.#counts.admit(shopOf(caller), 1, admissionOf);
  }

  admitSeparately(caller: Caller, separate: SeparateQuota): MaybePromise<LimiterAdmission> {
    const { accountId: owner, mode } = caller;
    const sender =
      separate === "sandbox" ? senderOf("sandbox", owner, sandboxQuota) : senderOf(`${mode}-plan`, owner, caller);
    const counted = this.#counts.admit(sender, 1, admissionOf);
    const shown = this.#counts.admit(shopOf(caller), 0, currentFigures);
    return whenReady(counted, (admission) => (admission.verdict === "limited" ? admission : shown));
  }

  limitStatus(caller: Caller): MaybePromise<LimitStatus> {
    return this.#counts.admit(shopOf(caller), 0, statusOf);
  }

  admitAddress(address: string): MaybePromise<LimiterAdmission> {
    return this.#counts.admit(senderOf("address", address, addressQuota), 1, admissionOf);
  }

  peekAddress(address: string): MaybePromise<LimiterAdmission> {
    return this.#counts.admit(senderOf("address", address, addressQuota), 0, currentFigures);
  }

  /**
   * Forgets the counts of an account, of which only rows of the store are left. Call it when no process serves or saves
   * requests of its keys any longer. Rejects with `StorageUnavailable` if data is left; it can be called again.
   */
  forget(accountId: string): Promise<void> {
    return this.#counts.forget(accountId);
  }
}

function shopOf(caller: Caller): Sender {
  const { mode: kind, accountId: owner, keyId, perMinute, limitPerMinute } = caller;
  const limits = limitsOf(caller, keyId, limitPerMinute);
  return { kind, owner, keyId, limits, strikesForBan: strikesForBan(perMinute) };
}

/** A sender without strikes. */
function senderOf(kind: Kind, owner: string, quota: Quota): Sender {
  return { kind, owner, keyId: "", limits: limitsOf(quota), strikesForBan: 0 };
}

/** Whether a request is admitted, with the figures that it shows. Each value of `remaining` appears once. */
export function admissionOf(decision: Decision, position: number): LimiterAdmission {
  if (position < decision.admitted) return admitted(decision, decision.admitted - 1 - position);
  const limited = refusal(decision);
  const isLastStrike = position === decision.admitted + decision.lastStrike - 1;
  return isLastStrike ? { ...limited, isLastStrike } : limited;
}

/** The figures of the window with the least remaining; of the first in a tie. */
function currentFigures(decision: Decision): LimiterAdmission {
  return admitted(decision, 0);
}

/** The figures before `later` requests were admitted. */
function admitted({ windows, weight }: Decision, later: number): LimiterAdmission {
  let [least, room] = [windows[0] as LimitedWindow, Number.POSITIVE_INFINITY];
  for (const one of windows) {
    const left = roomIn(one, weight);
    if (left < room) [least, room] = [one, left];
  }
  const { limit, window } = least;
  const remaining = weight * (room + later);
  return { verdict: "admitted", limit: limit.requests, remaining, reset: seconds(window.ends), retryAfter: 0 };
}

/** The limits of a key and its shop. */
function statusOf({ windows, strikes, weight }: Decision): LimitStatus {
  const statuses = windows.map((one) => [one.limit.window, windowStatus(one, weight)]);
  return { ...(Object.fromEntries(statuses) as Omit<LimitStatus, "strikes">), strikes };
}

/** After a change of plan, `used` can exceed `limit`. */
function windowStatus(limited: LimitedWindow, weight: number): WindowStatus {
  const { limit, window } = limited;
  const remaining = weight * roomIn(limited, weight);
  const used = Math.max(window.used, limit.requests - remaining);
  return { limit: limit.requests, used, remaining, reset: seconds(window.ends) };
}
