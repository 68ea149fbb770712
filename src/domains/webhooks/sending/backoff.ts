import { retryAfterOf } from "../../../../client/src/outcome.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../timing/clock.ts";

/** Milliseconds between the end of a delivery and the next one. The first delivery starts at once. */
export const deliveryDelays = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const;

/** The largest random extra delay, as a part of the delay. It spreads retries after deliveries that failed together. */
const JITTER = 0.2;
/** The longest `Retry-After` that is obeyed. */
const MAX_WAIT = 24 * HOUR_MS;
/** The longest time from a delivery to the next one, in milliseconds. */
export const LONGEST_DELAY = Math.round(MAX_WAIT * (1 + JITTER));

/** The part of a delivery's result that decides about the next delivery. */
interface DecisiveResult {
  /** Undefined if the delivery succeeded. */
  readonly failure?: string | undefined;
  /** Milliseconds that the receiver asked to wait. */
  readonly retryAfter?: number | undefined;
}

/**
 * Milliseconds between delivery number `attempt` of a message, counted from 1, and the next one; undefined if none follows.
 * `random` is at least 0 and below 1.
 */
export function nextDelay(
  attempt: number,
  { failure, retryAfter }: DecisiveResult,
  random: number,
): number | undefined {
  const delay = failure === undefined ? undefined : deliveryDelays[attempt];
  return delay === undefined ? undefined : Math.round(Math.max(delay, retryAfter ?? 0) * (1 + JITTER * random));
}

/** True if a delivery due at `dueAt` can be made. A time further ahead than any delay was saved while the clock was ahead. */
export function isDue(dueAt: number, now: number): boolean {
  return dueAt <= now || dueAt > now + LONGEST_DELAY;
}

/** The wait of a `Retry-After` header in milliseconds, at most a day; undefined if there is nothing to wait for. */
export function readRetryAfter(headers: Pick<Headers, "get">, now: number): number | undefined {
  const seconds = retryAfterOf(headers, now);
  return seconds && Math.min(seconds * SECOND_MS, MAX_WAIT);
}
