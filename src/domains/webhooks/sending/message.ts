import type { Mode, ShopNumber } from "../../../contract/caller.ts";
import { exactJson } from "../../../contract/serialize.ts";
import type { Event } from "../../events/events.schemas.ts";
import { messageId } from "../secrets/signatures.ts";
import { TEST_TYPE } from "../webhooks.schemas.ts";

export interface MessageEndpoint {
  readonly id: string;
  /** The internal number of the shop. */
  readonly shop: ShopNumber;
  readonly mode: Mode;
}

/**
 * The message of an event for an endpoint. Its body is JSON, the same bytes in every delivery. All tests send the same
 * event, so each has its own negative number as `eventId`. `generation`: see `generationOf`.
 */
export function messageOf(
  event: Event,
  eventId: bigint,
  { id: endpointId, shop, mode }: MessageEndpoint,
  generation: string,
) {
  const id = messageId(endpointId, `${generation}:${shop}`, eventId);
  return { id, body: exactJson({ id, type: event.type, timestamp: event.at, mode, data: event }) };
}

/** The event of a test. Its id is 0, which no event in the log has. */
export function testEvent(endpointId: string, at: string): Event {
  const subject = { type: "webhook_endpoint", id: endpointId };
  return { id: 0n, type: TEST_TYPE, at, actor: { kind: "system" }, subject, data: { id: endpointId } };
}
