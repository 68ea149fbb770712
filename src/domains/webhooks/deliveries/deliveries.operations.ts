import { Type } from "typebox";
import { invalidRequest } from "../../../contract/errors.ts";
import { defineOperation, noContent } from "../../../contract/operation.ts";
import { pagesOf } from "../../../contract/paging.ts";
import { described, Int64 } from "../../../contract/schemas.ts";
import { eventsExpired } from "../../events/events.operations.ts";
import {
  deliveryNotFound,
  endpointId,
  endpointNotFound,
  endpointParams,
  endpointPath,
  sendingCommon,
  tooManyRedeliveries,
  webhookCommon,
  webhooksUnavailable,
} from "../shared.operations.ts";
import { Delivery, NewRedelivery, Outcome, Redelivery, TEST_TYPE } from "../webhooks.schemas.ts";

const delivery: Delivery = {
  id: 17n,
  webhookId: "msg_3mN0c2mN8xWbT1Lz5fQ0c2mN",
  kind: "event",
  type: "order.placed",
  eventId: 118n,
  attempt: 1,
  at: "2026-11-21T18:05:00.000Z",
  durationMs: 42,
  outcome: "failed",
  failure: "error_status",
  message: "The response status was not from 200 to 299.",
  status: 500,
};

const deliveryParams = {
  schema: Type.Object({
    endpointId,
    deliveryId: Int64({ description: "The identifier of a delivery.", examples: [17n] }),
  }),
  invalidError: deliveryNotFound,
};

const listWebhookDeliveries = defineOperation({
  ...webhookCommon,
  name: "listWebhookDeliveries",
  method: "GET",
  path: `${endpointPath}/deliveries`,
  summary: "List deliveries",
  description:
    "Returns the deliveries of the endpoint, newest first, one page at a time. The last 1,000 are kept for up to 7 days.",
  params: endpointParams,
  ...pagesOf({
    what: "deliveries",
    schema: Type.Array(Delivery, { title: "WebhookDeliveries", description: "Deliveries, newest first." }),
    position: Int64({ description: "The `id` of a delivery.", examples: [17n] }),
    filters: { outcome: Type.Optional(described(Outcome, "Filters deliveries by outcome.")) },
    examples: { "A delivery that failed": [delivery], "No delivery": [] },
  }),
  errors: [webhooksUnavailable],
});

const getWebhookDelivery = defineOperation({
  ...webhookCommon,
  name: "getWebhookDelivery",
  method: "GET",
  path: `${endpointPath}/deliveries/{deliveryId}`,
  summary: "Get a delivery",
  description: "Returns one delivery, with the start of the response.",
  params: deliveryParams,
  response: {
    status: 200,
    description: "The delivery.",
    schema: Delivery,
    examples: { "A delivery that failed": { ...delivery, response: "Internal Server Error" } },
  },
  errors: [endpointNotFound, webhooksUnavailable],
});

const redeliverWebhooks = defineOperation({
  ...sendingCommon,
  name: "redeliverWebhooks",
  method: "POST",
  path: `${endpointPath}/redeliver`,
  summary: "Send events again",
  description:
    "Sends again the events from `from` to `to` that have the types of the endpoint, or the message of one delivery that " +
    "is no test. They keep their `webhook-id`, can arrive in any order, and are retried as usual. They wait while the " +
    "endpoint is not enabled.",
  params: endpointParams,
  body: {
    schema: NewRedelivery,
    examples: {
      "All since an event": { from: 100n },
      "A range": { from: 100n, to: 250n },
      "One message": { deliveryId: 17n },
    },
  },
  emits: [],
  response: {
    status: 200,
    description: "The events to be sent again.",
    schema: Redelivery,
    examples: { "A range": { from: 100n, to: 250n } },
  },
  errors: [invalidRequest, deliveryNotFound, eventsExpired, tooManyRedeliveries, webhooksUnavailable],
});

const testWebhookEndpoint = defineOperation({
  ...webhookCommon,
  name: "testWebhookEndpoint",
  method: "POST",
  path: `${endpointPath}/test`,
  summary: "Send a test message",
  description:
    `Sends one message of the type \`${TEST_TYPE}\` within a second, even if the endpoint is not enabled. ` +
    "`listWebhookDeliveries` shows the result.",
  params: endpointParams,
  emits: [],
  response: noContent("The message will be sent."),
  errors: [tooManyRedeliveries, webhooksUnavailable],
});

/** The operations on messages and their deliveries. */
export const deliveryOperations = [
  testWebhookEndpoint,
  redeliverWebhooks,
  listWebhookDeliveries,
  getWebhookDelivery,
] as const;
