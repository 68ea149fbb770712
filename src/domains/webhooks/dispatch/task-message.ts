import type { Event } from "../../events/events.schemas.ts";
import { validKeys } from "../secrets/endpoint-secrets.ts";
import { signedHeaders } from "../secrets/signatures.ts";
import { type EventMessage, messageOf } from "../sending/message.ts";
import type { SendResult } from "../sending/send.ts";
import type { CourierParts } from "./courier-parts.ts";
import type { CourierState } from "./dispatch.store.ts";
import { RedeliveryProgress } from "./endpoint-progress.ts";
import type { Task } from "./next-task.ts";

/** The message of an attempt. */
export function messageOfTask({ kind, source }: Task, event: Event, { id, shop, mode }: CourierState): EventMessage {
  const isTest = source instanceof RedeliveryProgress && kind === "test";
  return messageOf(event, isTest ? -source.row.id : event.id, id, shop, mode);
}

/** Sends a message once, signed with every secret of the endpoint that is valid now. */
export async function sendSigned(
  { id: messageId, body }: EventMessage,
  { url, id, secrets }: CourierState,
  { clock, secretKeys, send }: CourierParts,
): Promise<SendResult> {
  const now = clock.now();
  const keys = validKeys(id, secrets, secretKeys, now);
  if (keys.length === 0) {
    return { failure: "secret_lost", status: undefined, excerpt: undefined, retryAfter: undefined, duration: 0 };
  }
  return send({ url, body, headers: signedHeaders(messageId, body, now, keys) });
}
