import { Type } from "typebox";
import { modes } from "../../contract/caller.ts";
import type { EventType, Webhook } from "../../contract/operation.ts";
import { Choice, OneOf, Timestamp } from "../../contract/schemas.ts";
import { exampleEvent } from "../events/events.operations.ts";
import { eventSchema, titleOf } from "../events/events.schemas.ts";
import { TEST_TYPE } from "./webhooks.schemas.ts";

const testType: EventType = {
  type: TEST_TYPE,
  meaning: "The message of `testWebhookEndpoint`. It is not in the log, and its `id` is 0.",
  data: Type.Object(
    { id: Type.String({ description: "Identifies the endpoint." }) },
    { title: "TestedWebhookEndpoint", description: "The endpoint that is tested." },
  ),
};

const example = {
  id: "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W",
  type: exampleEvent.type,
  timestamp: exampleEvent.at,
  mode: "live",
  data: exampleEvent,
};

/** The messages about events of these types. */
export function messages(types: readonly EventType[]): Webhook {
  const common = {
    id: Type.String({ description: "Identifies the message. All its deliveries have the same." }),
    timestamp: Timestamp({ description: "When the change was made." }),
    mode: Choice(modes, { title: "WebhookMode", description: "The shop: the live one, or the sandbox (`test`)." }),
  };
  const variants = [...types, testType].map((event) => {
    const data = eventSchema(event);
    return Type.Object(
      { ...common, type: data.properties.type, data },
      { title: `${titleOf(event)}Message`, description: event.meaning },
    );
  });
  return {
    name: "receiveWebhook",
    summary: "Receive a message",
    description:
      "Sent to the URL of an endpoint for each event of its types, signed according to Standard Webhooks 1.0.0. Verify " +
      "the signature of the raw body before you use it. A message can arrive more than once, with the same `webhook-id`.",
    headers: Type.Object({
      "webhook-id": Type.String({
        description: "The `id` of the body.",
        maxLength: 64,
        examples: [example.id],
      }),
      "webhook-timestamp": Type.String({
        description: "When this delivery was signed, in Unix seconds.",
        maxLength: 16,
        examples: ["1795262700"],
      }),
      "webhook-signature": Type.String({
        description: "Signatures (`v1,…` and `v1a,…`), separated by spaces.",
        maxLength: 1024,
        examples: ["v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="],
      }),
    }),
    schema: OneOf("type", variants, {
      title: "WebhookMessage",
      description: "A message about an event. Later releases may send other types.",
    }),
    examples: { "An animal is reserved": example },
    responses: {
      "2XX": "The message was received. Respond within 15 seconds.",
      "4XX": "The delivery failed, as with any other status, and is repeated later.",
      410: "The endpoint is disabled.",
    },
  };
}
