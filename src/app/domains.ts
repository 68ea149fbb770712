import { accountsDomain } from "../domains/accounts.domain.ts";
import type { ServedDomain } from "../domains/callers.ts";
import { eventsDomain } from "../domains/events/events.domain.ts";
import { shopDomain } from "../domains/shop.domain.ts";
import { systemNetwork } from "../domains/webhooks/sending/send.ts";
import { webhooksDomain } from "../domains/webhooks/webhooks.domain.ts";
import { webhookEventTypes } from "../domains/webhooks/webhooks.schemas.ts";

/** The domains of resources. Those of events and webhooks take their event types from them. */
const resourceDomains: readonly ServedDomain[] = [shopDomain, accountsDomain];
const eventTypes = [...resourceDomains.flatMap((domain) => domain.eventTypes ?? []), ...webhookEventTypes];
const eventFilters = resourceDomains.flatMap((domain) => domain.eventFilters ?? []);

/** Webhooks that are sent over a network. */
export const webhooksOver = (networkOf: typeof systemNetwork) => webhooksDomain(eventTypes, networkOf);

/** Every domain whose operations are served. */
export const domains: readonly ServedDomain[] = [
  ...resourceDomains,
  eventsDomain(eventTypes, eventFilters),
  webhooksOver(systemNetwork),
];
