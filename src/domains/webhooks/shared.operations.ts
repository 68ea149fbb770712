// What several operations on webhooks share: errors, parameters and the path of an endpoint.
import { Type } from "typebox";
import { defineError } from "../../contract/errors.ts";
import type { Tag } from "../../contract/operation.ts";
import { MAX_ENDPOINTS, MAX_SECRETS, type Refusal, refusals } from "./webhooks.schemas.ts";

const webhooks: Tag = {
  name: "webhooks",
  description: "Sends the shop's events to your URLs, signed according to Standard Webhooks 1.0.0.",
  stability: "beta",
};

export const endpointNotFound = defineError({
  code: "webhook_endpoint_not_found",
  status: 404,
  meaning: "No webhook endpoint of the shop has this identifier.",
});
export const deliveryNotFound = defineError({
  code: "webhook_delivery_not_found",
  status: 404,
  meaning: "The endpoint has no delivery with this identifier, or it was deleted. A test cannot be redelivered.",
});
export const tooManyEndpoints = defineError({
  code: "too_many_webhook_endpoints",
  status: 409,
  meaning: `The shop already has ${MAX_ENDPOINTS} webhook endpoints, the maximum. Delete one that you no longer need.`,
});
export const tooManySecrets = defineError({
  code: "too_many_webhook_secrets",
  status: 409,
  meaning: `${MAX_SECRETS} secrets of the endpoint are valid, the maximum. A replaced one ends after 24 hours.`,
});
/** The maximum number of unfinished redeliveries and tests of an endpoint. */
export const MAX_REDELIVERIES = 10;
export const tooManyRedeliveries = defineError({
  code: "too_many_webhook_redeliveries",
  status: 409,
  meaning: `The endpoint already has ${MAX_REDELIVERIES} unfinished redeliveries or tests, the maximum.`,
});
export const webhooksUnavailable = defineError({
  code: "webhooks_unavailable",
  status: 503,
  meaning:
    "The service has no key from which webhook secrets are derived. Its operator must set `PETSTORE_SECRET_KEY`.",
  retryAfter: 60,
});

const refused = (code: Refusal) => defineError({ code, status: 400, meaning: refusals[code] });

/** The error for each reason to reject a URL. */
export const refusalErrors = Object.fromEntries(
  Object.keys(refusals).map((code) => [code, refused(code as Refusal)]),
) as Readonly<Record<Refusal, ReturnType<typeof refused>>>;

/** The errors of an operation that takes a URL. */
export const urlErrors = Object.values(refusalErrors);

/** The path parameter of an endpoint. */
export const endpointId = Type.String({
  description: "The identifier of a webhook endpoint.",
  maxLength: 64,
  pattern: "^[0-9A-Za-z_]+$",
  examples: ["we_5f0c2a8e1b7d94c3a6e0f1d2"],
});
/** Of all operations on one endpoint. */
export const endpointParams = { schema: Type.Object({ endpointId }), invalidError: endpointNotFound };
export const endpointPath = "/webhook-endpoints/{endpointId}";
/** Of all operations on webhooks. */
export const webhookCommon = { tag: webhooks, scopes: ["admin"] } as const;
/** Of those that decide which events are sent where: the events must be the key's to read. */
export const sendingCommon = { tag: webhooks, scopes: ["admin", "read"] } as const;
