import { HOUR_MS } from "../../../timing/clock.ts";
import { deliveryDelays, LONGEST_DELAY } from "../sending/backoff.ts";
import type { LastFailure } from "../webhooks.schemas.ts";

const HOURS = 24;
/** Number of sequences that may fail without a success before the whole endpoint waits. */
const MAX_FAILED = 10;
/** An endpoint is disabled after every delivery has failed for this long, in milliseconds. */
const DISABLED_AFTER = 5 * 24 * HOUR_MS;
/** Milliseconds between two probes of an endpoint; the last one is repeated. */
const probeDelays = deliveryDelays.slice(1, 5);

/** Deliveries of one hour: the number of the hour since 1970, those that succeeded, those that failed. */
type HourCount = readonly [hour: number, succeeded: number, failed: number];

/** Recent successes and failures of an endpoint. All times are Unix milliseconds of the shop's clock. */
export interface Health {
  /** Hours with deliveries, the oldest first. */
  readonly hours: readonly HourCount[];
  /** Since when every delivery has failed (see `startOfFailures`); null if the newest succeeded, or there is none. */
  readonly failingSince: number | null;
  /** The sequences that have failed since the last success. They were called subjects when this field was first stored. */
  readonly failedSubjects: readonly string[];
  /** Probes that have failed in a row. */
  readonly probes: number;
  /** When the next probe is sent; null if the endpoint does not wait. */
  readonly retriesAt: number | null;
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
  failedSubjects: [],
  probes: 0,
  retriesAt: null,
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
  readonly sequence: string;
  readonly isProbe: boolean;
  /** When it ended, in Unix milliseconds of the shop's clock. */
  readonly at: number;
  /** Undefined if it succeeded. */
  readonly failure: StoredFailure | undefined;
  /** Milliseconds that the receiver asked to wait. */
  readonly retryAfter: number | undefined;
}

/**
 * The health of an endpoint after one more delivery. `isFull` is true if no more sequences can be parked. After too many
 * failures the endpoint waits, and only a probe is sent.
 */
export function afterDelivery(health: Health, delivery: EndedDelivery, isFull: boolean): Health {
  const { sequence, isProbe, at, failure, retryAfter = 0 } = delivery;
  const hours = countDelivery(health.hours, at, failure !== undefined);
  if (!failure) return { ...withoutFailures(health), hours };
  const failedSubjects = [...new Set([...health.failedSubjects, sequence])].slice(0, MAX_FAILED);
  const failing = { hours, failedSubjects, failingSince: startOfFailures(health, at), lastFailure: failure };
  const waits = isFull || failedSubjects.length >= MAX_FAILED;
  if (health.retriesAt !== null && !isProbe) {
    return { ...health, ...failing, retriesAt: Math.max(health.retriesAt, at + retryAfter) };
  }
  if (!waits) return { ...health, ...failing };
  const probes = health.retriesAt === null ? 0 : health.probes + 1;
  const delay = probeDelays[Math.min(probes, probeDelays.length - 1)] as number;
  return { ...failing, probes, retriesAt: at + Math.max(delay, retryAfter) };
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
