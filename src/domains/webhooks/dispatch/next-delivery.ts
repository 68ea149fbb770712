import type { Event } from "../../events/events.schemas.ts";
import { isDue } from "../sending/backoff.ts";
import type { DeliveryKind } from "../webhooks.schemas.ts";
import type { EndpointProgress } from "./endpoint-progress.ts";
import type { EventWindow } from "./event-window.ts";
import { isRedelivery, redeliverySequence, sequenceOf } from "./sequences.ts";

/** How many retries may be in progress while new events are waiting. */
const MAX_RETRIES = 16;

/** A delivery to be made. */
export interface PlannedDelivery {
  readonly kind: DeliveryKind;
  /** No two deliveries of one sequence are in progress. */
  readonly sequence: string;
  readonly eventId: bigint;
  /** Only of a test. */
  readonly testId?: bigint;
  /** The number of the delivery, counted from 1. A redelivery starts at 1 again. */
  readonly attempt: number;
  /** True if the endpoint is failing: no other event is sent until this delivery has ended. */
  readonly isProbe: boolean;
  /** Undefined if it must be read from the log. */
  readonly event?: Event;
  /** The window that the event must be removed from afterwards; undefined if the event is parked. */
  readonly window?: EventWindow;
}

type InProgress = ReadonlyMap<string, unknown>;

/**
 * The next delivery to make at this time of the shop's clock; undefined for none. `inProgress` has the sequences of the
 * deliveries that have not ended. While the endpoint is waiting, only tests are sent.
 */
export function nextDelivery(
  progress: EndpointProgress,
  inProgress: InProgress,
  now: number,
  isWaiting: boolean,
): PlannedDelivery | undefined {
  const { health, window, redeliveries, hasRoom } = progress;
  const isProbe = health.retriesAt !== null;
  for (const { row, window: ofTest } of redeliveries.values()) {
    const { id, kind } = row;
    const test = kind === "test" ? ofTest.begin(() => true) : undefined;
    if (test) {
      return { kind: "test", sequence: `test:${id}`, testId: id, isProbe: false, ...firstDelivery(test, ofTest) };
    }
  }
  if (isWaiting || (isProbe && inProgress.size > 0)) return undefined;
  const retry = nextParked(progress, inProgress, now, isProbe);
  if (retry || !hasRoom) return retry;
  const isFree = (sequence: string) => !inProgress.has(sequence);
  const event = window.begin((one) => isFree(sequenceOf(one)));
  if (event) return { kind: "event", sequence: sequenceOf(event), isProbe, ...firstDelivery(event, window) };
  for (const { window: ofRedelivery } of redeliveries.values()) {
    const again = ofRedelivery.begin(({ id }) => isFree(redeliverySequence(id)));
    if (again) {
      return {
        kind: "redelivery",
        sequence: redeliverySequence(again.id),
        isProbe,
        ...firstDelivery(again, ofRedelivery),
      };
    }
  }
  return undefined;
}

function firstDelivery(event: Event, window: EventWindow) {
  return { eventId: event.id, attempt: 1, event, window };
}

/**
 * The parked sequence with the earliest due time, if one is due. A probe may be for any parked sequence, even for one
 * that is not due yet.
 */
function nextParked(
  { parked, window }: EndpointProgress,
  inProgress: InProgress,
  now: number,
  isProbe: boolean,
): PlannedDelivery | undefined {
  const retries = inProgress.keys().reduce((sum, sequence) => sum + (parked.has(sequence) ? 1 : 0), 0);
  if (retries >= MAX_RETRIES && window.oldest !== undefined) return undefined;
  let first: string | undefined;
  let earliest = Number.POSITIVE_INFINITY;
  for (const [sequence, { dueAt }] of parked) {
    if (dueAt > earliest || !(isProbe || isDue(dueAt, now)) || inProgress.has(sequence)) continue;
    first = sequence;
    earliest = dueAt;
  }
  const one = first === undefined ? undefined : parked.get(first);
  if (first === undefined || !one) return undefined;
  const kind = isRedelivery(first) ? "redelivery" : "event";
  return { kind, sequence: first, eventId: one.eventId, attempt: one.attempts + 1, isProbe };
}
