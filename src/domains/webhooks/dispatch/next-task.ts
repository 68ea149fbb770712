import type { Event } from "../../events/events.schemas.ts";
import { isDue } from "../sending/backoff.ts";
import type { AttemptRecord } from "./dispatch.store.ts";
import type { EndpointProgress, RedeliveryProgress } from "./endpoint-progress.ts";
import type { EventWindow } from "./event-window.ts";
import { isRedelivery, redeliverySubject, subjectOf } from "./subjects.ts";

/** How many retries may be in progress while new events are waiting. */
const MAX_RETRIES = 16;

/** One attempt to be made. */
export interface Task {
  readonly kind: AttemptRecord["kind"];
  /** No two tasks with the same subject are in progress. */
  readonly subject: string;
  readonly eventId: bigint;
  /** Undefined if it must be read from the log. */
  readonly event?: Event | undefined;
  /** Counted from 1. */
  readonly attempt: number;
  /** What the event must be removed from afterwards. */
  readonly source: "parked" | EventWindow | RedeliveryProgress;
}

type InProgress = ReadonlyMap<string, unknown>;

/**
 * The next attempt to make at this time of the shop's clock; undefined for none. `inProgress` has the subjects of the
 * attempts that have not ended. While the endpoint is waiting, only tests are sent.
 */
export function nextTask(
  progress: EndpointProgress,
  inProgress: InProgress,
  now: number,
  isWaiting: boolean,
): Task | undefined {
  const { health, window, redeliveries, hasRoom } = progress;
  const { retriesAt } = health;
  const isFree = (subject: string) => !inProgress.has(subject);
  for (const redelivery of redeliveries.values()) {
    const subject = `test:${redelivery.row.id}`;
    if (redelivery.row.kind === "test" && !redelivery.isFinished && isFree(subject)) {
      return { kind: "test", subject, eventId: 0n, attempt: 1, source: redelivery };
    }
  }
  if (isWaiting || (retriesAt !== null && inProgress.size > 0)) return undefined;
  // The probe of a failing endpoint may be for any parked subject, even one that is not due yet.
  const retry = nextParked(progress, inProgress, retriesAt === null ? now : Number.POSITIVE_INFINITY);
  if (retry || !hasRoom) return retry;
  const event = window.begin((one) => isFree(subjectOf(one)));
  if (event) return { kind: "event", subject: subjectOf(event), eventId: event.id, event, attempt: 1, source: window };
  for (const redelivery of redeliveries.values()) {
    const again = redelivery.window.begin(({ id }) => isFree(redeliverySubject(id)));
    if (again) {
      const subject = redeliverySubject(again.id);
      return { kind: "redelivery", subject, eventId: again.id, event: again, attempt: 1, source: redelivery };
    }
  }
  return undefined;
}

/** The parked subject with the earliest due time, if one is due. */
function nextParked({ parked, window }: EndpointProgress, inProgress: InProgress, at: number): Task | undefined {
  const retries = inProgress.keys().reduce((sum, subject) => sum + (parked.has(subject) ? 1 : 0), 0);
  if (retries >= MAX_RETRIES && window.oldest !== undefined) return undefined;
  let first: string | undefined;
  let earliest = Number.POSITIVE_INFINITY;
  for (const [subject, { dueAt }] of parked) {
    if (dueAt > earliest || !isDue(dueAt, at) || inProgress.has(subject)) continue;
    [first, earliest] = [subject, dueAt];
  }
  const one = first === undefined ? undefined : parked.get(first);
  if (first === undefined || !one) return undefined;
  const kind = isRedelivery(first) ? "redelivery" : "event";
  return { kind, subject: first, eventId: one.eventId, attempt: one.attempts + 1, source: "parked" };
}
