import { type Static, type TSchema, Type } from "typebox";
import { defineEvent, type EventType } from "../../contract/operation.ts";
import { Choice, described, Int32, Int64, LongText, Secret, Timestamp, textWithout } from "../../contract/schemas.ts";

/** The maximum number of endpoints of a shop. */
export const MAX_ENDPOINTS = 20;
/** The maximum number of valid secrets of an endpoint. Each adds two signatures to a message. */
export const MAX_SECRETS = 5;
/** Stands for all event types. */
export const ALL_TYPES = "*";

/** The type of the message that `testWebhookEndpoint` sends. It is not in the event log. */
export const TEST_TYPE = "webhook_endpoint.test";

/** The reasons to reject a URL, by error code. */
export const refusals = {
  url_invalid: "The URL of a webhook endpoint is not an absolute URL.",
  url_not_https: "The URL of a webhook endpoint does not start with https:// (in development, http:// works too).",
  url_has_credentials: "The URL of a webhook endpoint contains a user name or password.",
  url_port_refused: "The URL of a webhook endpoint has a port below 1024 other than 80 and 443.",
  address_not_global: "The host of a webhook endpoint has no public internet address.",
  address_denied: "The operator of the service has blocked the address of the webhook endpoint.",
} as const;

/** The code of such a reason. */
export type Refusal = keyof typeof refusals;

/** The reasons why a delivery failed, by code. */
export const sendFailures = {
  ...refusals,
  name_not_resolved: "The host name has no address.",
  connection_failed: "The connection failed, or closed before a response arrived.",
  tls_failed: "The receiver has no valid certificate for its name, or does not support TLS.",
  timed_out: "No response arrived within 15 seconds.",
  response_invalid: "The receiver did not send a valid HTTP response.",
  redirected: "The response was a redirect. Redirects are not followed: change the URL of the endpoint.",
  error_status: "The response status was not from 200 to 299.",
  secret_lost: "The service has lost the key of the endpoint's secret. Replace the secret.",
} as const;

/** The code of such a reason. */
export type SendFailure = keyof typeof sendFailures;

const endpointStates = ["enabled", "paused", "disabled"] as const;
export type EndpointState = (typeof endpointStates)[number];

const Failure = Choice(Object.keys(sendFailures) as SendFailure[], {
  title: "WebhookFailure",
  description: "Why a delivery failed.",
});

const url = Type.String({
  description: "Where to send messages: an https URL, except in development.",
  format: "uri",
  minLength: 1,
  maxLength: 2048,
  ...textWithout("\\x00-\\x20\\x7F-\\x9F", "space or control character"),
  examples: ["https://example.org/petstore"],
});
const description = LongText({ description: "What the endpoint is for.", minLength: 0, maxLength: 255 });

const LastFailure = Type.Object(
  {
    at: Timestamp({ description: "When it failed." }),
    failure: Failure,
    message: Type.String({ description: "A description of the reason." }),
    status: Type.Optional(Int32({ description: "The status of the response, if one arrived." })),
    deliveryId: Int64({ description: "The failed delivery." }),
  },
  { title: "LastWebhookFailure", description: "The latest delivery that failed." },
);
export type LastFailure = Static<typeof LastFailure>;

const Missed = Type.Object(
  { from: Int64({ description: "The first event that it may have missed.", examples: [100n] }) },
  {
    title: "MissedWebhookEvents",
    description: "What a disabled endpoint missed: a body for `redeliverWebhooks`. Gone once it is resumed or paused.",
  },
);

/** The fields of an endpoint besides the state of its deliveries. */
const endpointFields = <T extends TSchema>(types: T) => ({
  id: Type.String({ description: "Identifies the endpoint." }),
  url,
  types,
  description,
  state: Choice(endpointStates, {
    title: "WebhookEndpointState",
    description:
      "`paused`: by a request. Its events are sent once it is enabled, if still stored. `disabled`: by the service, " +
      "after 5 days of failures, a 410 or its expiry. Its events are sent only by `redeliverWebhooks`.",
  }),
  publicKey: Type.Optional(
    Type.String({
      description:
        "Verifies `v1a` signatures (`whpk_`). Absent if the service has lost the secret's key (rotate the secret), and " +
        "in events whose actor is `operator`.",
    }),
  ),
  createdAt: Timestamp({ description: "When the endpoint was created." }),
  expiresAt: Type.Optional(Timestamp({ description: "When the endpoint is disabled: with the key that set its URL." })),
});

const deliveryFields = {
  successRate24h: Type.Optional(
    Type.Number({
      description: "The share of deliveries in the last 24 hours that succeeded. Absent if there were none.",
      minimum: 0,
      maximum: 1,
    }),
  ),
  failingSince: Type.Optional(
    Timestamp({
      description:
        "When the current series of failures began. Between two failures, at most 28.8 hours are counted, so it can be " +
        "later than the first one.",
    }),
  ),
  retriesAt: Type.Optional(Timestamp({ description: "The next delivery, while the endpoint waits after failures." })),
  lastFailure: Type.Optional(LastFailure),
  missed: Type.Optional(Missed),
};

/** The schemas of endpoints, for these types of events. */
export function endpointSchemas(known: readonly EventType[]) {
  const EventTypes = Type.Array(
    Choice([ALL_TYPES, ...known.map(({ type }): string => type)], {
      title: "WebhookEventType",
      description: "An event type, or `*` for all.",
    }),
    { description: "The event types to send.", minItems: 1, maxItems: known.length + 1 },
  );
  const choices = { types: Type.Optional(EventTypes), description: Type.Optional(description) };
  const fields = { ...endpointFields(EventTypes), ...deliveryFields };
  return {
    NewEndpoint: Type.Object(
      { url, ...choices, types: Type.Optional(described(EventTypes, "The event types to send. Default: all (`*`).")) },
      { title: "NewWebhookEndpoint", description: "A webhook endpoint to create.", additionalProperties: false },
    ),
    EndpointPatch: Type.Object(
      {
        url: Type.Optional(url),
        ...choices,
        paused: Type.Optional(
          Type.Boolean({ description: "True pauses the endpoint. False enables it, even if it was disabled." }),
        ),
        expiresAt: Type.Optional(
          Type.Null({
            description: "Lets the endpoint outlive the key that set its URL. The calling key must not expire.",
          }),
        ),
      },
      {
        title: "WebhookEndpointPatch",
        description: "The fields of an endpoint to change (JSON Merge Patch, RFC 7396).",
        additionalProperties: false,
      },
    ),
    Endpoint: Type.Object(fields, {
      title: "WebhookEndpoint",
      description: "A URL that receives events of the shop.",
    }),
    EndpointWithSecret: Type.Object(
      { secret: Secret("Verifies `v1` signatures (`whsec_`). Shown only once."), ...fields },
      { title: "WebhookEndpointWithSecret", description: "A webhook endpoint and its new secret." },
    ),
  };
}
export type NewEndpoint = Static<ReturnType<typeof endpointSchemas>["NewEndpoint"]>;
export type EndpointPatch = Static<ReturnType<typeof endpointSchemas>["EndpointPatch"]>;
export type Endpoint = Static<ReturnType<typeof endpointSchemas>["Endpoint"]>;

/** An endpoint in events. */
export const RecordedEndpoint = Type.Object(
  endpointFields(Type.Array(Type.String(), { description: "The event types to send.", maxItems: 100 })),
  { title: "RecordedWebhookEndpoint", description: "A webhook endpoint without the state of its deliveries." },
);
export type RecordedEndpoint = Static<typeof RecordedEndpoint>;

const readBy = { scope: "admin" } as const;
const change = { data: RecordedEndpoint, previous: RecordedEndpoint } as const;
export const endpointCreated = defineEvent({
  ...readBy,
  type: "webhook_endpoint.created",
  meaning: "An endpoint was created.",
  data: RecordedEndpoint,
});
export const endpointUpdated = defineEvent({
  ...readBy,
  ...change,
  type: "webhook_endpoint.updated",
  meaning: "An endpoint was changed, or its secret was replaced.",
});
export const endpointDisabled = defineEvent({
  ...readBy,
  ...change,
  type: "webhook_endpoint.disabled",
  meaning: "The service disabled an endpoint because it failed for 5 days, returned 410 or expired.",
});
export const endpointDeleted = defineEvent({
  ...readBy,
  type: "webhook_endpoint.deleted",
  meaning: "An endpoint was deleted.",
  previous: RecordedEndpoint,
});
export const webhookEventTypes = [endpointCreated, endpointUpdated, endpointDisabled, endpointDeleted] as const;

export const outcomes = ["succeeded", "failed"] as const;
export type DeliveryOutcome = (typeof outcomes)[number];

export const Outcome = Choice(outcomes, {
  title: "WebhookDeliveryOutcome",
  description: "Whether the receiver accepted the message.",
});

export const deliveryKinds = ["event", "redelivery", "test"] as const;
export type DeliveryKind = (typeof deliveryKinds)[number];

export const Delivery = Type.Object(
  {
    id: Int64({ description: "Identifies the delivery at its endpoint.", examples: [17n] }),
    webhookId: Type.String({
      description: "The `webhook-id` of the message, the same in all its deliveries.",
    }),
    kind: Choice(deliveryKinds, { title: "WebhookDeliveryKind", description: "Why the message was sent." }),
    type: Type.String({ description: "The type of the event.", examples: ["pet.created"] }),
    eventId: Type.Optional(Int64({ description: "The event. Absent for a test." })),
    attempt: Int32({ description: "1 for the first delivery. A redelivery starts at 1 again.", minimum: 1 }),
    at: Timestamp({ description: "When the delivery ended." }),
    durationMs: Int32({ description: "How long it took, in milliseconds." }),
    outcome: Outcome,
    failure: Type.Optional(Failure),
    message: Type.Optional(Type.String({ description: "A description of the failure." })),
    status: Type.Optional(Int32({ description: "The status of the response, if one arrived." })),
    response: Type.Optional(Type.String({ description: "The first 1,024 bytes of the response. Absent in lists." })),
  },
  { title: "WebhookDelivery", description: "One attempt to send a message to an endpoint." },
);
export type Delivery = Static<typeof Delivery>;

export const Redelivery = Type.Object(
  {
    from: Int64({ description: "The first event to send again.", examples: [100n] }),
    to: Int64({ description: "The last event to send again.", examples: [250n] }),
  },
  { title: "WebhookRedelivery", description: "The events to send again." },
);
export type Redelivery = Static<typeof Redelivery>;

export const NewRedelivery = Type.Object(
  {
    from: Type.Optional(Int64({ description: "The first event. Default: the oldest stored one.", examples: [100n] })),
    to: Type.Optional(Int64({ description: "The last event. Default: the newest one.", examples: [250n] })),
    deliveryId: Type.Optional(
      Int64({ description: "Send only the message of this delivery. Not with `from` or `to`." }),
    ),
  },
  { title: "NewWebhookRedelivery", description: "What to send again.", additionalProperties: false },
);
export type NewRedelivery = Static<typeof NewRedelivery>;
