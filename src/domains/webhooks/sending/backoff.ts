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
  readonly failure: string | undefined;
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

const seconds = /^[0-9]+$/;
/** The three forms of a date that recipients must accept (RFC 9110, section 5.6.7). Only the last names no zone. */
const httpDate =
  /^([A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT|[A-Z][a-z]+day, [0-9]{2}-[A-Z][a-z]{2}-[0-9]{2} [0-9:]{8} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} [0-9]{4})$/;

/**
 * The wait of a `Retry-After` header (seconds or a date) in milliseconds, at most a day; undefined if it is neither. A
 * date is compared with the `Date` of the response, if it has one, because the clocks of the two machines may differ.
 */
export function readRetryAfter(headers: Pick<Headers, "get">, now: number): number | undefined {
  const text = headers.get("retry-after") ?? "";
  if (seconds.test(text)) return Math.min(Number(text) * SECOND_MS, MAX_WAIT);
  const until = timeOf(text);
  return until === undefined
    ? undefined
    : Math.min(Math.max(0, until - (timeOf(headers.get("date") ?? "") ?? now)), MAX_WAIT);
}

function timeOf(date: string): number | undefined {
  const time = httpDate.test(date) ? Date.parse(`${date.replace(" GMT", "")} GMT`) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
