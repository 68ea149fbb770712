import { present } from "../../collections/present.ts";
import { type Failure, failure, invalidInput, isFailure, lifetimeExceedsKey } from "../../contract/errors.ts";
import { type Handlers, responseWith } from "../../contract/handler.ts";
import type { EventType } from "../../contract/operation.ts";
import { timestampOf } from "../../contract/schemas.ts";
import { authorOf } from "../events/publish.ts";
import { deliveryOperations } from "./deliveries/deliveries.operations.ts";
import { deliveryOf, deliveryPage } from "./deliveries/deliveries.store.ts";
import { addRedelivery, addTest } from "./deliveries/redeliveries.store.ts";
import { successRate } from "./endpoints/endpoint-health.ts";
import { endpointOperations } from "./endpoints/endpoints.operations.ts";
import { type EndpointStore, recordedEndpoint, type StoredEndpoint } from "./endpoints/endpoints.store.ts";
import { currentKeys } from "./secrets/endpoint-secrets.ts";
import type { SecretKeys } from "./secrets/secret-keys.ts";
import { shownSecret } from "./secrets/signatures.ts";
import type { AddressPolicy } from "./sending/addresses.ts";
import { refusalErrors, webhooksUnavailable } from "./shared.operations.ts";
import { type Endpoint, type RecordedEndpoint, refusals, sendFailures } from "./webhooks.schemas.ts";

/** The operations on webhooks, for these types of events. */
export function webhookOperations(types: readonly EventType[]) {
  return [...endpointOperations(types), ...deliveryOperations] as const;
}

/** The parts that serve webhook endpoints. */
export interface WebhookParts {
  readonly endpoints: EndpointStore;
  readonly policy: AddressPolicy;
  readonly secretKeys: SecretKeys;
  /** Real time, in Unix milliseconds. */
  readonly now: () => number;
}

type WebhookHandlers = Handlers<ReturnType<typeof webhookOperations>>;

/** The handlers of webhook endpoints. Without keys for their secrets, every operation fails. */
export function webhookHandlers(
  operations: ReturnType<typeof webhookOperations>,
  parts: WebhookParts | undefined,
): WebhookHandlers {
  if (parts) return servingHandlers(parts);
  return Object.fromEntries(operations.map(({ name }) => [name, refuse])) as unknown as WebhookHandlers;
}

function servingHandlers({ endpoints, policy, secretKeys, now }: WebhookParts): WebhookHandlers {
  const shown = (endpoint: StoredEndpoint) => shownEndpoint(endpoint, secretKeys, now());

  function withSecret(endpoint: StoredEndpoint) {
    const keys = currentKeys(endpoint.id, endpoint.secrets, secretKeys);
    if (!keys) throw new Error("A new secret is derived from a key that is not there.");
    return { secret: shownSecret(keys), ...shown(endpoint) };
  }

  /** The failure for a URL that the policy refuses; undefined if it accepts the URL. */
  function urlFailure(url: string | undefined) {
    const refusal = url === undefined ? undefined : policy.refusalOfUrl(url);
    return refusal && failure(refusalErrors[refusal], refusals[refusal]);
  }

  return {
    *listWebhookEndpoints({ caller }) {
      return { body: (yield* endpoints.list(caller)).map(shown) };
    },

    *createWebhookEndpoint({ caller, requestId, body }) {
      const refused = urlFailure(body.url);
      if (refused) return refused;
      const endpoint = yield* endpoints.add(caller, authorOf(caller, requestId), body);
      return isFailure(endpoint) ? endpoint : { body: withSecret(endpoint) };
    },

    *getWebhookEndpoint({ caller, params: { endpointId } }) {
      const found = yield* endpoints.get(caller, endpointId);
      return isFailure(found) ? found : { body: shown(found) };
    },

    *updateWebhookEndpoint({ caller, requestId, params: { endpointId }, body }) {
      const refused = urlFailure(body.url);
      if (refused) return refused;
      if (body.expiresAt === null && Number.isFinite(caller.expiresAt)) return outlives;
      const endpoint = yield* endpoints.change(caller, authorOf(caller, requestId), endpointId, body);
      return isFailure(endpoint) ? endpoint : { body: shown(endpoint) };
    },

    *deleteWebhookEndpoint({ caller, requestId, params: { endpointId } }) {
      return responseWith(yield* endpoints.delete(caller, authorOf(caller, requestId), endpointId));
    },

    *rotateWebhookSecret({ caller, requestId, params: { endpointId } }) {
      const endpoint = yield* endpoints.rotate(caller, authorOf(caller, requestId), endpointId);
      return isFailure(endpoint) ? endpoint : { body: withSecret(endpoint) };
    },

    *testWebhookEndpoint({ caller, params: { endpointId } }) {
      return responseWith(yield* addTest(caller, endpointId, now()));
    },

    *redeliverWebhooks({ caller, params: { endpointId }, body }) {
      const { from, to, deliveryId } = body;
      if (deliveryId !== undefined && (from ?? to) !== undefined) return eitherOr;
      return responseWith(yield* addRedelivery(caller, endpointId, body, now()));
    },

    *listWebhookDeliveries({ caller, params: { endpointId }, query: { limit, outcome }, after }) {
      const endpoint = yield* endpoints.get(caller, endpointId);
      if (isFailure(endpoint)) return endpoint;
      return yield* deliveryPage(caller.shop, endpointId, after, limit, outcome);
    },

    *getWebhookDelivery({ caller, params: { endpointId, deliveryId } }) {
      const endpoint = yield* endpoints.get(caller, endpointId);
      return responseWith(isFailure(endpoint) ? endpoint : yield* deliveryOf(caller.shop, endpointId, deliveryId));
    },
  };
}

function* refuse(): Generator<never, Failure<typeof webhooksUnavailable>> {
  return failure(webhooksUnavailable, "The service has no key from which webhook secrets are derived.");
}

const outlives = failure(lifetimeExceedsKey, "The calling key expires, so it cannot let an endpoint outlive it.");
const eitherOr = invalidInput([{ path: "/body/deliveryId", message: "cannot be sent with from or to" }]);

function shownEndpoint(endpoint: StoredEndpoint, secretKeys: SecretKeys, now: number): Endpoint {
  const { failingSince, waitsUntil, lastFailure } = endpoint.health;
  const deliveries = present<Required<Omit<Endpoint, keyof RecordedEndpoint>>>({
    successRate24h: successRate(endpoint.health, now),
    failingSince: failingSince === null ? null : timestampOf(failingSince),
    retriesAt: waitsUntil !== null && waitsUntil > now ? timestampOf(waitsUntil) : null,
    missed: endpoint.state === "disabled" ? { from: endpoint.position + 1n } : null,
    lastFailure: lastFailure && {
      at: timestampOf(lastFailure.at),
      failure: lastFailure.failure,
      message: sendFailures[lastFailure.failure],
      ...(lastFailure.status !== undefined && { status: lastFailure.status }),
      deliveryId: BigInt(lastFailure.deliveryId),
    },
  });
  return { ...recordedEndpoint(endpoint, secretKeys), ...deliveries };
}
