import { type Failure, failure, invalidInput, lifetimeExceedsKey } from "../../contract/errors.ts";
import { type Handlers, successOr } from "../../contract/handler.ts";
import type { EventType } from "../../contract/operation.ts";
import { timestampOf } from "../../contract/schemas.ts";
import { expired } from "../events/events.operations.ts";
import { authorOf } from "../events/publish.ts";
import { deliveryOperations } from "./deliveries/deliveries.operations.ts";
import { deliveryOf, deliveryPage } from "./deliveries/deliveries.store.ts";
import { addRedelivery, addTest } from "./deliveries/redeliveries.store.ts";
import { successRate } from "./endpoints/endpoint-health.ts";
import { endpointOperations } from "./endpoints/endpoints.operations.ts";
import { type EndpointStore, expiryOf, type StoredEndpoint } from "./endpoints/endpoints.store.ts";
import { currentKeys } from "./secrets/endpoint-secrets.ts";
import type { SecretKeys } from "./secrets/secret-keys.ts";
import { shownPublicKey, shownSecret } from "./secrets/signatures.ts";
import type { AddressPolicy } from "./sending/addresses.ts";
import {
  deliveryNotFound,
  endpointNotFound,
  MAX_REDELIVERIES,
  refusalErrors,
  tooManyEndpoints,
  tooManyRedeliveries,
  tooManySecrets,
  webhooksUnavailable,
} from "./shared.operations.ts";
import { type Endpoint, MAX_ENDPOINTS, MAX_SECRETS, refusals, sendFailures } from "./webhooks.schemas.ts";

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
      return endpoint === "too many" ? tooMany : { body: withSecret(endpoint) };
    },

    *getWebhookEndpoint({ caller, params: { endpointId } }) {
      const found = yield* endpoints.get(caller, endpointId);
      return found ? { body: shown(found) } : notFound;
    },

    *updateWebhookEndpoint({ caller, requestId, params: { endpointId }, body }) {
      const refused = urlFailure(body.url);
      if (refused) return refused;
      if (body.expiresAt === null && Number.isFinite(caller.expiresAt)) return outlives;
      const endpoint = yield* endpoints.change(caller, authorOf(caller, requestId), endpointId, body);
      if (endpoint === "expired") return mustBeConfirmed;
      return endpoint === "not found" ? notFound : { body: shown(endpoint) };
    },

    *deleteWebhookEndpoint({ caller, requestId, params: { endpointId } }) {
      return (yield* endpoints.delete(caller, authorOf(caller, requestId), endpointId)) === "not found"
        ? notFound
        : { body: null };
    },

    *rotateWebhookSecret({ caller, requestId, params: { endpointId } }) {
      const endpoint = yield* endpoints.rotate(caller, authorOf(caller, requestId), endpointId);
      if (endpoint === "too many") return tooManyValid;
      return endpoint === "not found" ? notFound : { body: withSecret(endpoint) };
    },

    *testWebhookEndpoint({ caller, params: { endpointId } }) {
      const outcome = yield* addTest(caller, endpointId, now());
      return outcome === "added" ? { body: null } : outcome === "not found" ? notFound : tooManyWaiting;
    },

    *redeliverWebhooks({ caller, params: { endpointId }, body }) {
      const { from, to, deliveryId } = body;
      if (deliveryId !== undefined && (from ?? to) !== undefined) return eitherOr;
      return successOr(yield* addRedelivery(caller, endpointId, body, now()), {
        "not found": () => notFound,
        "no delivery": () => failure(deliveryNotFound, `The endpoint has no delivery ${deliveryId} of an event.`),
        "no range": () => (from === undefined ? noEvents : emptyRange),
        "too many": () => tooManyWaiting,
        expired,
      });
    },

    *listWebhookDeliveries({ caller, params: { endpointId }, query: { limit, outcome }, after }) {
      if (!(yield* endpoints.get(caller, endpointId))) return notFound;
      return yield* deliveryPage(caller.shop, endpointId, after, limit, outcome);
    },

    *getWebhookDelivery({ caller, params: { endpointId, deliveryId } }) {
      if (!(yield* endpoints.get(caller, endpointId))) return notFound;
      const found = yield* deliveryOf(caller.shop, endpointId, deliveryId);
      return found ? { body: found } : failure(deliveryNotFound, `The endpoint has no delivery ${deliveryId}.`);
    },
  };
}

function* refuse(): Generator<never, Failure<typeof webhooksUnavailable>> {
  return failure(webhooksUnavailable, "The service has no key from which webhook secrets are derived.");
}

const tooManyValid = failure(
  tooManySecrets,
  `${MAX_SECRETS} secrets of the endpoint are valid. Use the newest. You can replace it when an older one ends, within 24 hours.`,
);
const notFound = failure(endpointNotFound, "No webhook endpoint of the shop has this id.");
const tooMany = failure(
  tooManyEndpoints,
  `The shop has ${MAX_ENDPOINTS} webhook endpoints. Delete one that is not needed.`,
);

const outlives = failure(lifetimeExceedsKey, "The calling key expires, so it cannot let an endpoint outlive it.");
const mustBeConfirmed = invalidInput([
  { path: "/body/paused", message: "needs `expiresAt: null` too, because the endpoint has expired" },
]);

const tooManyWaiting = failure(
  tooManyRedeliveries,
  `${MAX_REDELIVERIES} redeliveries or tests of the endpoint are not finished yet. Try again later.`,
);

const eitherOr = invalidInput([{ path: "/body/deliveryId", message: "cannot be sent with from or to" }]);
const noEvents = invalidInput([{ path: "/body", message: "names no stored event" }]);
const emptyRange = invalidInput([{ path: "/body/from", message: "is after `to`, or after the newest event" }]);

function shownEndpoint(endpoint: StoredEndpoint, secretKeys: SecretKeys, now: number): Endpoint {
  const { id, url, types, description, state, secrets, createdAt, health, expiresAt, position } = endpoint;
  const keys = currentKeys(id, secrets, secretKeys);
  const rate = successRate(health, now);
  const { failingSince, waitsUntil, lastFailure } = health;
  return {
    id,
    url,
    types: [...types],
    description,
    state,
    ...(keys && { publicKey: shownPublicKey(keys) }),
    createdAt: timestampOf(createdAt),
    ...expiryOf(expiresAt),
    ...(rate !== undefined && { successRate24h: rate }),
    ...(failingSince !== null && { failingSince: timestampOf(failingSince) }),
    ...(waitsUntil !== null && waitsUntil > now && { retriesAt: timestampOf(waitsUntil) }),
    ...(state === "disabled" && { missed: { from: position + 1n } }),
    ...(lastFailure && {
      lastFailure: {
        at: timestampOf(lastFailure.at),
        failure: lastFailure.failure,
        message: sendFailures[lastFailure.failure],
        ...(lastFailure.status !== undefined && { status: lastFailure.status }),
        deliveryId: BigInt(lastFailure.deliveryId),
      },
    }),
  };
}
