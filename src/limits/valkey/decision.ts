import type { Quota } from "../../contract/caller.ts";
import type { Admission, LimitStatus } from "../../http/interfaces.ts";
import { DAY_MS, realSeconds, retryAfterOf } from "../../timing/clock.ts";
import { windowStatus } from "../windows.ts";

/**
 * The server's decision on all requests of one key in one turn of the event loop. In the order of arrival, the first
 * requests are admitted, and the rest are limited. Times are Unix milliseconds by the shop's
 * clock: the server's clock plus `ahead` milliseconds, which is 0 except in sandboxes.
 */
export interface Decision {
  readonly admitted: number;
  /** Which of the limited requests is the last strike of the key, from 1; 0 for none. */
  readonly lastStrike: number;
  readonly now: number;
  readonly ahead: number;
  readonly minuteEnds: number;
  /** Counts of both windows after the last admitted request. */
  readonly minuteUsed: number;
  readonly dayUsed: number;
  readonly strikes: number;
}

/** Parses the reply of the script; undefined for a shop that the server does not know. */
export function readDecision(reply: string): Decision | undefined {
  if (reply === "") return undefined;
  const [admitted, lastStrike, now, ahead, minuteEnds, minuteUsed, dayUsed, strikes] = reply.split(" ").map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return { admitted, lastStrike, now, ahead, minuteEnds, minuteUsed, dayUsed, strikes };
}

/** The admission of the request at a position, counted from 0. Each value of `remaining` is used once. */
export function admissionAt(decision: Decision, quota: Quota, position: number): Admission {
  const { admitted, lastStrike } = decision;
  if (position < admitted) return admissionFrom(decision, quota, admitted - 1 - position);
  const limited = denial(decision, quota);
  return position === admitted + lastStrike - 1 ? { ...limited, isLastStrike: true } : limited;
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

/** The values for a request with a separate quota: those of the window with the fewest remaining requests. */
export function separateAdmission({ minute, day }: LimitStatus): Admission {
  const { limit, remaining, reset } = minute.remaining < day.remaining ? minute : day;
  return { verdict: "admitted", limit, remaining, reset, retryAfter: 0 };
}

/** The limits of a key and its shop. */
export function limitStatusOf(decision: Decision, quota: Quota): LimitStatus {
  const { ahead, strikes } = decision;
  return {
    minute: windowStatus(quota.perMinute, decision.minuteUsed, realSeconds(decision.minuteEnds, ahead)),
    day: windowStatus(quota.perDay, decision.dayUsed, realSeconds(endOfDay(decision), ahead)),
    strikes,
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

/** The end of the UTC day of a decision. */
function endOfDay({ now }: Decision): number {
  return (Math.floor(now / DAY_MS) + 1) * DAY_MS;
}
