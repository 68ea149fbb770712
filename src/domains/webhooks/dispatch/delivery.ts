import type { Clock } from "../../../timing/clock.ts";
import { validKeys } from "../secrets/endpoint-secrets.ts";
import type { SecretKeys } from "../secrets/secret-keys.ts";
import { signedHeaders } from "../secrets/signatures.ts";
import { nextDelay } from "../sending/backoff.ts";
import { messageOf } from "../sending/message.ts";
import type { SendResult, SignedMessage } from "../sending/send.ts";
import type { CourierEndpoint, PlannedDelivery } from "./plan.ts";

/** A delivery that has ended and is not saved. */
export interface Delivery extends Omit<PlannedDelivery, "event"> {
  readonly type: string;
  readonly isProbe: boolean;
  /** Undefined if it was interrupted, or its event was deleted. */
  readonly sent: Sent | undefined;
  /** The next attempt; undefined for none. */
  readonly next: { readonly attempt: number; readonly dueAt: number } | undefined;
}

/** A message that was sent once. */
interface Sent {
  readonly webhookId: string;
  /** When the delivery ended, in Unix milliseconds. */
  readonly at: number;
  readonly result: SendResult;
  /** True if the receiver wants no more messages. */
  readonly disables: boolean;
}
export type SentDelivery = Delivery & { readonly sent: Sent };

/** What deliveries need. */
export interface DeliveryParts {
  /** See `generationOf`. */
  readonly generation: string;
  readonly clock: Clock;
  readonly secretKeys: SecretKeys;
  readonly send: (message: SignedMessage, cancel: AbortSignal) => Promise<SendResult>;
  /** Returns a number of at least 0 and below 1. */
  readonly random: () => number;
}

/** Sends a message once, signed with every secret of the endpoint that is valid now. */
export async function deliver(
  { event, ...planned }: PlannedDelivery,
  isProbe: boolean,
  endpoint: CourierEndpoint,
  { generation, clock, secretKeys, send, random }: DeliveryParts,
  cancel: AbortSignal,
): Promise<SentDelivery> {
  const { kind, eventId, attempt } = planned;
  const { id, body } = messageOf(event, eventId, endpoint, generation);
  const now = clock.now();
  const keys = validKeys(endpoint.id, endpoint.secrets, secretKeys, now);
  const result: SendResult =
    keys.length === 0
      ? { failure: "secret_lost", duration: 0 }
      : await send({ url: endpoint.url, body, headers: signedHeaders(id, body, now, keys) }, cancel);
  const at = clock.now();
  const disables = result.status === 410; // 410 Gone: the receiver wants no more events
  const delay = disables ? 0 : nextDelay(attempt, result, random());
  const next = kind === "test" || delay === undefined ? undefined : { attempt: attempt + 1, dueAt: at + delay };
  const sent = { webhookId: id, at, result, disables: disables && kind !== "test" };
  return { ...planned, type: event.type, isProbe, sent, next };
}
