import type { Caller, Quota } from "../../contract/caller.ts";
import type { Admission, LimitStatus } from "../../http/interfaces.ts";
import { DAY_MS } from "../../timing/clock.ts";
import { realSeconds, retryAfterOf } from "../clock-reading.ts";
import { banLength, banSchedule, FORGOTTEN_AFTER, strikesForBan } from "../key-bans.ts";
import { windowStatus } from "../windows.ts";

/**
 * The server's decision on all requests of one key in one turn of the event loop. In the order of arrival, the first
 * requests are admitted, the next are limited, and the rest are banned. Times are Unix milliseconds by the shop's
 * clock: the server's clock plus `ahead` milliseconds, which is 0 except in sandboxes.
 */
export interface Decision {
  readonly admitted: number;
  readonly limited: number;
  readonly now: number;
  readonly ahead: number;
  readonly minuteEnds: number;
  /** Counts of both windows after the last admitted request. */
  readonly minuteUsed: number;
  readonly dayUsed: number;
  readonly strikes: number;
  /** When the last ban ends or ended, and its level; 0 if there was none. */
  readonly banEnds: number;
  readonly banLevel: number;
}

/** Parses the reply of the script; undefined for a shop that the server does not know. */
export function readDecision(reply: string): Decision | undefined {
  if (reply === "") return undefined;
  const [admitted, limited, now, ahead, minuteEnds, minuteUsed, dayUsed, strikes, banEnds, banLevel] = reply
    .split(" ")
    .map(Number) as [number, number, number, number, number, number, number, number, number, number];
  return { admitted, limited, now, ahead, minuteEnds, minuteUsed, dayUsed, strikes, banEnds, banLevel };
}

/** The admission of the request at a position, counted from 0. Each value of `remaining` is used once. */
export function admissionAt(decision: Decision, quota: Quota, position: number): Admission {
  const { admitted, limited } = decision;
  if (position < admitted) return admissionFrom(decision, quota, admitted - 1 - position);
  return position < admitted + limited ? denial(decision, quota) : ban(decision, quota);
}

/**
 * The values of the window with the fewest remaining requests; of the day in a tie. `later` is the number of requests
 * of the decision that were admitted after this one.
 */
export function admissionFrom(decision: Decision, { perMinute, perDay }: Quota, later = 0): Admission {
  const minuteLeft = Math.max(0, perMinute - decision.minuteUsed) + later;
  const dayLeft = Math.max(0, perDay - decision.dayUsed) + later;
  return minuteLeft < dayLeft
    ? {
        verdict: "admitted",
        limit: perMinute,
        remaining: minuteLeft,
        reset: realSeconds(decision.minuteEnds, decision.ahead),
        retryAfter: 0,
      }
    : {
        verdict: "admitted",
        limit: perDay,
        remaining: dayLeft,
        reset: realSeconds(endOfDay(decision), decision.ahead),
        retryAfter: 0,
      };
}

/**
 * The values for a request with a separate quota: the ban's, or those of the window with the fewest remaining requests.
 */
export function separateAdmission({ perMinute }: Caller, { minute, day, banEnds }: LimitStatus): Admission {
  const { limit, remaining, reset } = minute.remaining < day.remaining ? minute : day;
  return banEnds === undefined
    ? { verdict: "admitted", limit, remaining, reset, retryAfter: 0 }
    : { verdict: "admitted", limit: perMinute, remaining: 0, reset: banEnds, retryAfter: 0 };
}

/** The limits of a key and its shop. */
export function limitStatusOf(decision: Decision, quota: Quota): LimitStatus {
  const { now, ahead, banEnds, banLevel } = decision;
  return {
    minute: windowStatus(quota.perMinute, decision.minuteUsed, realSeconds(decision.minuteEnds, ahead)),
    day: windowStatus(quota.perDay, decision.dayUsed, realSeconds(endOfDay(decision), ahead)),
    strikes: decision.strikes,
    strikesForBan: strikesForBan(quota.perMinute),
    banEnds: now < banEnds ? realSeconds(banEnds, ahead) : undefined,
    nextBan: banLength(now - banEnds >= FORGOTTEN_AFTER ? 1 : banLevel + 1) / 1000,
    banSchedule,
  };
}

/** If both windows are used up, the one that ends later determines `Retry-After`. */
function denial(decision: Decision, { perMinute, perDay }: Quota): Admission {
  const { minuteEnds, minuteUsed, dayUsed } = decision;
  const ofMinute = denialUntil(minuteEnds, decision, perMinute);
  const ofDay = denialUntil(endOfDay(decision), decision, perDay);
  const isOfMinute = dayUsed < perDay || (minuteUsed >= perMinute && ofMinute.retryAfter > ofDay.retryAfter);
  return isOfMinute ? ofMinute : ofDay;
}

function denialUntil(end: number, { now, ahead }: Decision, limit: number): Admission {
  const reset = realSeconds(end, ahead);
  return { verdict: "limited", limit, remaining: 0, reset, retryAfter: retryAfterOf(end - now) };
}

function ban({ now, ahead, banEnds }: Decision, { perMinute }: Quota): Admission {
  const retryAfter = retryAfterOf(banEnds - now);
  return { verdict: "banned", limit: perMinute, remaining: 0, reset: realSeconds(banEnds, ahead), retryAfter };
}

/** The end of the UTC day of a decision. */
function endOfDay({ now }: Decision): number {
  return (Math.floor(now / DAY_MS) + 1) * DAY_MS;
}
