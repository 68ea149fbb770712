import { Type } from "typebox";
import { invalidRequest, lifetimeExceedsKey } from "../../../contract/errors.ts";
import { defineOperation, type EventType, noContent } from "../../../contract/operation.ts";
import { messages } from "../messages.schemas.ts";
import {
  endpointParams,
  endpointPath,
  sendingCommon,
  tooManyEndpoints,
  tooManySecrets,
  urlErrors,
  webhookCommon,
  webhooksUnavailable,
} from "../shared.operations.ts";
import {
  type Endpoint,
  endpointCreated,
  endpointDeleted,
  endpointSchemas,
  endpointUpdated,
  MAX_ENDPOINTS,
  sendFailures,
} from "../webhooks.schemas.ts";

const endpoint: Endpoint = {
  id: "we_5f0c2a8e1b7d94c3a6e0f1d2",
  url: "https://example.org/petstore",
  types: ["order.placed", "order.expired"],
  description: "Orders for the till",
  state: "enabled",
  publicKey: "whpk_PM0iIqJ0PbCrv0WJKmi7xPJCFZnAxfP0d7NWdzNVy1c=",
  createdAt: "2026-11-21T12:00:00.000Z",
  successRate24h: 1,
};
const failing: Endpoint = {
  ...endpoint,
  successRate24h: 0.25,
  failingSince: "2026-11-21T18:00:00.000Z",
  lastFailure: {
    at: "2026-11-21T18:05:00.000Z",
    failure: "timed_out",
    message: sendFailures.timed_out,
    deliveryId: 17n,
  },
};
const withSecret = { secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw2c0rJ1PqVtM=", ...endpoint };

/** The operations on endpoints, for these types of events. */
export function endpointOperations(types: readonly EventType[]) {
  const { NewEndpoint, EndpointPatch, Endpoint, EndpointWithSecret } = endpointSchemas(types);
  const listWebhookEndpoints = defineOperation({
    ...webhookCommon,
    name: "listWebhookEndpoints",
    method: "GET",
    path: "/webhook-endpoints",
    summary: "List webhook endpoints",
    aliases: ["hooks", "endpoints", "subscriptions", "callbacks"],
    description: `Returns all endpoints of the shop, oldest first. There are at most ${MAX_ENDPOINTS}.`,
    response: {
      status: 200,
      description: "The endpoints.",
      schema: Type.Array(Endpoint, {
        title: "WebhookEndpoints",
        description: "Endpoints, oldest first.",
        maxItems: MAX_ENDPOINTS,
      }),
      examples: { "One that works": [endpoint], "One that fails": [failing] },
    },
    errors: [webhooksUnavailable],
  });

  const createWebhookEndpoint = defineOperation({
    ...sendingCommon,
    name: "createWebhookEndpoint",
    method: "POST",
    path: "/webhook-endpoints",
    summary: "Create a webhook endpoint",
    description:
      "Sends new events of the shop to the URL, each at least once, usually in order. A failed delivery delays no other, " +
      "and is repeated up to nine times over three days. The response shows the secret once. If the calling " +
      "key expires, the endpoint is disabled with it, unless another key confirms it: `PATCH` with `expiresAt` null.",
    body: {
      schema: NewEndpoint,
      examples: {
        "Some types": {
          url: endpoint.url,
          types: ["order.placed", "order.expired"],
          description: endpoint.description,
        },
        "Every type": { url: endpoint.url },
      },
    },
    emits: [endpointCreated.type],
    sends: messages(types),
    response: {
      status: 201,
      description: "The endpoint and its secret.",
      schema: EndpointWithSecret,
      examples: { "A new endpoint": withSecret },
      location: "/webhook-endpoints/{id}",
    },
    errors: [...urlErrors, tooManyEndpoints, webhooksUnavailable],
  });

  const getWebhookEndpoint = defineOperation({
    ...webhookCommon,
    name: "getWebhookEndpoint",
    method: "GET",
    path: endpointPath,
    summary: "Get a webhook endpoint",
    description: "Returns the endpoint with the given identifier.",
    params: endpointParams,
    response: { status: 200, description: "The endpoint.", schema: Endpoint, examples: { "An endpoint": endpoint } },
    errors: [webhooksUnavailable],
  });

  const updateWebhookEndpoint = defineOperation({
    ...sendingCommon,
    name: "updateWebhookEndpoint",
    method: "PATCH",
    path: endpointPath,
    summary: "Change a webhook endpoint",
    aliases: ["enable", "disable", "pause", "resume"],
    description:
      "Changes the fields in the body (JSON Merge Patch, RFC 7396). If the URL changes, messages that wait for a retry " +
      "are sent at once, and the endpoint expires with the calling key, if that expires.",
    params: endpointParams,
    body: {
      schema: EndpointPatch,
      examples: { Pause: { paused: true }, "Another URL": { url: endpoint.url }, Confirm: { expiresAt: null } },
    },
    emits: [endpointUpdated.type],
    response: {
      status: 200,
      description: "The changed endpoint.",
      schema: Endpoint,
      examples: { Paused: { ...endpoint, state: "paused" } },
      entityTag: true,
    },
    // An invalid request: resuming an endpoint that has expired.
    errors: [invalidRequest, ...urlErrors, lifetimeExceedsKey, webhooksUnavailable],
  });

  const deleteWebhookEndpoint = defineOperation({
    ...webhookCommon,
    name: "deleteWebhookEndpoint",
    method: "DELETE",
    path: endpointPath,
    summary: "Delete a webhook endpoint",
    description: "Deletes the endpoint and its deliveries. Nothing more is sent to it.",
    testPanel: { disabled: "one click would permanently delete an endpoint" },
    params: endpointParams,
    emits: [endpointDeleted.type],
    response: noContent("The endpoint is deleted."),
    errors: [webhooksUnavailable],
  });

  const rotateWebhookSecret = defineOperation({
    ...webhookCommon,
    name: "rotateWebhookSecret",
    method: "POST",
    path: `${endpointPath}/rotate-secret`,
    summary: "Replace the secret of an endpoint",
    description:
      "Creates a new secret and shows it once. Messages are also signed with each secret that was replaced in the last " +
      "24 hours.",
    testPanel: { disabled: "one click would replace a secret that receivers use" },
    params: endpointParams,
    emits: [endpointUpdated.type],
    response: {
      status: 200,
      description: "The endpoint and its new secret.",
      schema: EndpointWithSecret,
      examples: { "A new secret": withSecret },
    },
    errors: [tooManySecrets, webhooksUnavailable],
  });

  return [
    listWebhookEndpoints,
    createWebhookEndpoint,
    getWebhookEndpoint,
    updateWebhookEndpoint,
    deleteWebhookEndpoint,
    rotateWebhookSecret,
  ] as const;
}
