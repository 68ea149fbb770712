import type { Event } from "../../events/events.schemas.ts";
import { afterDelivery, hasFailedTooLong } from "../endpoints/endpoint-health.ts";
import { validKeys } from "../secrets/endpoint-secrets.ts";
import { signedHeaders } from "../secrets/signatures.ts";
import { nextStep } from "../sending/backoff.ts";
import { type EventMessage, messageOf } from "../sending/message.ts";
import type { SendResult } from "../sending/send.ts";
import { continueSequence } from "./continue-sequence.ts";
import type { CourierParts } from "./courier-parts.ts";
import type { CourierEndpoint } from "./dispatch.store.ts";
import type { EndpointProgress } from "./endpoint-progress.ts";
import type { PlannedDelivery } from "./next-delivery.ts";
import { isRedelivery } from "./sequences.ts";

/** A message that was sent once. */
export interface SentMessage {
  readonly id: string;
  /** The type of its event. */
  readonly type: string;
  readonly result: SendResult;
}

/** Sends the message of a delivery once. Undefined if its event has been deleted from the log. */
export async function makeDelivery(
  { event: known, eventId, testId }: PlannedDelivery,
  endpoint: CourierEndpoint,
  parts: CourierParts,
): Promise<SentMessage | undefined> {
  const event = known ?? (await storedEvent(parts, endpoint.shop, eventId));
  if (!event) return undefined;
  const message = messageOf(event, testId, endpoint, parts.generation);
  return { id: message.id, type: event.type, result: await sendSigned(message, endpoint, parts) };
}

async function storedEvent({ storage, log }: CourierParts, shop: number, id: bigint): Promise<Event | undefined> {
  const found = await storage.read(log.get(shop, id));
  return typeof found === "object" && "type" in found ? found : undefined;
}

/** Sends a message once, signed with every secret of the endpoint that is valid now. */
async function sendSigned(
  { id: messageId, body }: EventMessage,
  { url, id, secrets }: CourierEndpoint,
  { clock, secretKeys, send }: CourierParts,
): Promise<SendResult> {
  const now = clock.now();
  const keys = validKeys(id, secrets, secretKeys, now);
  if (keys.length === 0) {
    return { failure: "secret_lost", status: undefined, excerpt: undefined, retryAfter: undefined, duration: 0 };
  }
  return send({ url, body, headers: signedHeaders(messageId, body, now, keys) });
}

/**
 * Records the result of a delivery, and decides what follows. Without a message, there is nothing to record, and the
 * event is finished. Resolves to true if the endpoint must be disabled.
 */
export async function recordDelivery(
  delivery: PlannedDelivery,
  sent: SentMessage | undefined,
  progress: EndpointProgress,
  endpoint: CourierEndpoint,
  parts: CourierParts,
): Promise<boolean> {
  const { kind, sequence, eventId, attempt, isProbe } = delivery;
  const finish = () => finishEvent(delivery, progress, endpoint, parts);
  if (!sent) {
    await finish();
    return false;
  }
  const { failure, status, excerpt, duration, retryAfter } = sent.result;
  const at = parts.clock.now() + endpoint.ahead;
  parts.deliveryEnded(failure !== undefined);
  const deliveryId = progress.record({
    kind,
    attempt,
    at,
    duration,
    failure,
    status,
    excerpt,
    webhookId: sent.id,
    eventId: kind === "test" ? null : eventId,
    type: sent.type,
  });
  if (kind === "test") {
    await finish();
    return false;
  }
  const failed = failure && { failure, ...(status !== undefined && { status }), at, deliveryId: String(deliveryId) };
  const wasWaiting = progress.health.retriesAt !== null;
  const step = nextStep(attempt, sent.result, parts.random());
  if (step.kind === "retry") {
    progress.park(sequence, { eventId, attempts: attempt, dueAt: at + step.delay });
    delivery.window?.finish(eventId);
  } else if (step.kind !== "disable") await finish();
  const made = { sequence, isProbe, at, failure: failed, retryAfter };
  progress.health = afterDelivery(progress.health, made, progress.isFull);
  if (wasWaiting && !failed) progress.makeDue(at);
  return step.kind === "disable" || hasFailedTooLong(progress.health, at);
}

/** Finishes the event of a delivery. If its sequence was parked, it continues with the next event. */
async function finishEvent(
  { sequence, eventId, window }: PlannedDelivery,
  progress: EndpointProgress,
  endpoint: CourierEndpoint,
  parts: CourierParts,
): Promise<void> {
  if (window) window.finish(eventId);
  else if (isRedelivery(sequence)) progress.unpark(sequence);
  else await continueSequence(parts, endpoint, progress, sequence, eventId);
}
