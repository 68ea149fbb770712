import { HOUR_MS } from "../../../timing/clock.ts";
import { deliveryDelays, LONGEST_DELAY } from "../sending/backoff.ts";
import type { LastFailure } from "../webhooks.schemas.ts";

const HOURS = 24;
/** How many events may fail in a row at their first attempt before the whole endpoint waits. */
export const MAX_FAILED = 10;
/** An endpoint is disabled after every delivery has failed for this long, in milliseconds. */
export const DISABLED_AFTER = 5 * 24 * HOUR_MS;

/** Deliveries of one hour: the number of the hour since 1970, those that succeeded, those that failed. */
type HourCount = readonly [hour: number, succeeded: number, failed: number];

/** Recent successes and failures of an endpoint. All times are Unix milliseconds. */
export interface Health {
  /** Hours with deliveries, the oldest first. */
  readonly hours: readonly HourCount[];
  /** Since when every delivery has failed (see `startOfFailures`); null if the newest succeeded, or there is none. */
  readonly failingSince: number | null;
  /** The events whose first attempt has failed since the last success. */
  readonly failures: number;
  /** Probes that have failed in a row. */
  readonly probes: number;
  /** When a probe may be sent; null if the endpoint does not wait. */
  readonly waitsUntil: number | null;
  readonly lastFailure: StoredFailure | null;
}

/** A `LastFailure` as it is stored. */
export type StoredFailure = Pick<LastFailure, "failure" | "status"> & {
  readonly at: number;
  readonly deliveryId: string;
};

/** The health of an endpoint without deliveries. */
export const untried: Health = {
  hours: [],
  failingSince: null,
  failures: 0,
  probes: 0,
  waitsUntil: null,
  lastFailure: null,
};

/** The health of an endpoint that starts again. Its past deliveries still count in the success rate. */
export function withoutFailures({ hours, lastFailure }: Health): Health {
  return { ...untried, hours, lastFailure };
}

/** The part of the deliveries in the last 24 hours that succeeded, from 0 to 1; undefined if there were none. */
export function successRate({ hours }: Health, now: number): number | undefined {
  const recent = hours.filter(([hour]) => isRecent(hour, now));
  const succeeded = recent.reduce((sum, [, count]) => sum + count, 0);
  const all = recent.reduce((sum, [, count, failed]) => sum + count + failed, 0);
  return all === 0 ? undefined : succeeded / all;
}

/** A delivery that has ended. */
export interface EndedDelivery {
  /** Its number, counted from 1. */
  readonly attempt: number;
  readonly isProbe: boolean;
  /** When it ended, in Unix milliseconds. */
  readonly at: number;
  /** Undefined if it succeeded. */
  readonly failure: StoredFailure | undefined;
  /** Milliseconds that the receiver asked to wait. */
  readonly retryAfter: number | undefined;
}

/** `failures` after one more delivery. */
export function failuresAfter(failures: number, attempt: number, hasFailed: boolean): number {
  return hasFailed ? failures + (attempt === 1 ? 1 : 0) : 0;
}

/** The health of an endpoint after one more delivery. After too many failures the endpoint waits, and gets only probes. */
export function afterDelivery(health: Health, delivery: EndedDelivery): Health {
  const { attempt, isProbe, at, failure, retryAfter = 0 } = delivery;
  const hours = countDelivery(health.hours, at, failure !== undefined);
  if (!failure) return { ...withoutFailures(health), hours };
  const failures = failuresAfter(health.failures, attempt, true);
  const failing = { ...health, hours, failures, failingSince: startOfFailures(health, at), lastFailure: failure };
  if (health.waitsUntil !== null && !isProbe) {
    return { ...failing, waitsUntil: Math.max(health.waitsUntil, at + retryAfter) };
  }
  if (failures < MAX_FAILED) return failing;
  const probes = health.waitsUntil === null ? 0 : health.probes + 1;
  const delay = deliveryDelays[Math.min(probes + 1, deliveryDelays.length - 1)] as number;
  return { ...failing, probes, waitsUntil: at + Math.max(delay, retryAfter) };
}

/** True if every delivery has failed for so long that the endpoint must be disabled. */
export function hasFailedTooLong({ failingSince }: Health, at: number): boolean {
  return failingSince !== null && at - failingSince >= DISABLED_AFTER;
}

/**
 * When the current series of failures began, after one more at `at`. Between two failures, at most `LONGEST_DELAY`
 * counts. In the rest, nothing failed: the clock was set, the service did not run, or there was nothing to send.
 */
function startOfFailures({ failingSince, lastFailure }: Health, at: number): number {
  if (failingSince === null || !lastFailure) return at;
  const passed = at - lastFailure.at;
  return failingSince + passed - Math.min(Math.max(passed, 0), LONGEST_DELAY);
}

function countDelivery(hours: Health["hours"], now: number, hasFailed: boolean): Health["hours"] {
  const hour = Math.floor(now / HOUR_MS);
  const kept = hours.filter(([other]) => isRecent(other, now));
  const [, succeeded, failed] = kept.find(([other]) => other === hour) ?? [hour, 0, 0];
  const count: HourCount = hasFailed ? [hour, succeeded, failed + 1] : [hour, succeeded + 1, failed];
  return [...kept.filter(([other]) => other !== hour), count];
}

function isRecent(hour: number, now: number): boolean {
  return Math.abs(hour - Math.floor(now / HOUR_MS)) < HOURS;
}
