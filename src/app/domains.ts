import { bind } from "../contract/handler.ts";
import { accountCommands } from "../domains/accounts/accounts.command.ts";
import { categoryHandlers } from "../domains/categories/categories.handlers.ts";
import { categoryEventTypes, categoryOperations } from "../domains/categories/categories.operations.ts";
import { categorySettings } from "../domains/categories/categories.settings.ts";
import { CategoryStore, categoryExists, categoryTables } from "../domains/categories/categories.store.ts";
import { type Domain, defineDomain } from "../domains/domain.ts";
import { EventRetention } from "../domains/events/event-retention.store.ts";
import { EventWatch } from "../domains/events/event-watch.ts";
import { eventsCommand } from "../domains/events/events.command.ts";
import { eventHandlers } from "../domains/events/events.handlers.ts";
import { eventOperations } from "../domains/events/events.operations.ts";
import { eventSettings } from "../domains/events/events.settings.ts";
import { eventTables } from "../domains/events/events.statements.ts";
import { EventLog } from "../domains/events/events.store.ts";
import { storedResponseTables } from "../domains/idempotency/stored-responses.store.ts";
import { banEndsFrom } from "../domains/keys/ban-ends.ts";
import { banCommands } from "../domains/keys/bans.command.ts";
import { currentKeyHandlers } from "../domains/keys/current-key.handlers.ts";
import { currentKeyOperations } from "../domains/keys/current-key.operations.ts";
import { CurrentKey } from "../domains/keys/current-key.ts";
import { keyCommands } from "../domains/keys/keys.command.ts";
import { keyHandlers } from "../domains/keys/keys.handlers.ts";
import { keyEventTypes, keyOperations } from "../domains/keys/keys.operations.ts";
import { keySettings } from "../domains/keys/keys.settings.ts";
import { keyTables } from "../domains/keys/keys.statements.ts";
import { keysForCommand } from "../domains/keys/keys-for-command.ts";
import { shortenNotedBans } from "../domains/keys/noted-bans.store.ts";
import { metadataTables } from "../domains/metadata/metadata.store.ts";
import { orderHandlers } from "../domains/orders/orders.handlers.ts";
import { orderEventTypes, orderOperations } from "../domains/orders/orders.operations.ts";
import { orderSettings } from "../domains/orders/orders.settings.ts";
import { orderTables } from "../domains/orders/orders.statements.ts";
import { decidingOrder, OrderStore } from "../domains/orders/orders.store.ts";
import { exportCommand } from "../domains/pets/pets.export.command.ts";
import { petHandlers } from "../domains/pets/pets.handlers.ts";
import { importCommand } from "../domains/pets/pets.import.command.ts";
import { petEventTypes, petOperations } from "../domains/pets/pets.operations.ts";
import { petTables } from "../domains/pets/pets.statements.ts";
import { PetStore } from "../domains/pets/pets.store.ts";
import { requestCommands } from "../domains/requests/requests.command.ts";
import { requestHandlers } from "../domains/requests/requests.handlers.ts";
import { requestOperations } from "../domains/requests/requests.operations.ts";
import { requestTables } from "../domains/requests/requests.statements.ts";
import { RequestStore } from "../domains/requests/requests.store.ts";
import { sandboxHandlers } from "../domains/sandbox/sandbox.handlers.ts";
import { sandboxOperations } from "../domains/sandbox/sandbox.operations.ts";
import { SandboxStore } from "../domains/sandbox/sandbox.store.ts";
import { shopHandlers } from "../domains/shops/shops.handlers.ts";
import { shopOperations } from "../domains/shops/shops.operations.ts";
import { ShopSummaries } from "../domains/shops/summary.store.ts";
import { deprecationsCommand } from "../domains/usage/deprecations.command.ts";
import { usageCommand } from "../domains/usage/usage.command.ts";
import { usageHandlers } from "../domains/usage/usage.handlers.ts";
import { usageOperations } from "../domains/usage/usage.operations.ts";
import { WaitingDeliveries } from "../domains/webhooks/deliveries/waiting-deliveries.store.ts";
import { webhookAccountTables, webhookShopTables } from "../domains/webhooks/endpoints/endpoints.statements.ts";
import { listenCommand } from "../domains/webhooks/listen/listen.command.ts";
import { openWebhooks } from "../domains/webhooks/open-webhooks.ts";
import { systemNetwork } from "../domains/webhooks/sending/send.ts";
import { webhookCommands } from "../domains/webhooks/webhooks.command.ts";
import { webhookHandlers } from "../domains/webhooks/webhooks.handlers.ts";
import { webhookOperations } from "../domains/webhooks/webhooks.operations.ts";
import { webhookEventTypes } from "../domains/webhooks/webhooks.schemas.ts";
import { listenSettings, webhookSettings } from "../domains/webhooks/webhooks.settings.ts";
import type { Settings } from "../settings/setting.ts";
import type { Storage } from "../storage/storage.ts";
import { MINUTE_MS } from "../timing/clock.ts";
import type { ServedHost } from "./caller-parts.ts";

/** A domain that this service can open. */
export type ServedDomain = Domain<Settings, ServedHost>;

const shopDomainSettings = { ...categorySettings, ...orderSettings };

/**
 * Animals, categories and orders are one domain because they depend on each other: deleting a category moves its
 * animals, an animal may need a category that exists, and an order changes its animal, which cannot be deleted while the
 * order is open. A sandbox can be reset, and its clock ends reservations.
 */
const shopDomain = defineDomain<typeof shopDomainSettings, ServedHost>({
  name: "shop",
  operations: [...petOperations, ...categoryOperations, ...orderOperations, ...sandboxOperations, ...shopOperations],
  eventTypes: [...petEventTypes, ...categoryEventTypes, ...orderEventTypes],
  settings: shopDomainSettings,
  commands: [importCommand((settings) => settings(categorySettings).PETSTORE_STRICT_CATEGORIES), exportCommand],
  // Stored responses belong to no resource: POST and PATCH of every domain have them. One domain must list their table.
  shopTables: [...petTables, ...categoryTables, ...orderTables, ...metadataTables, ...storedResponseTables],
  open: (
    { storage, clock, limiter, repeat, runSoon, callers },
    { PETSTORE_STRICT_CATEGORIES, PETSTORE_RESERVATION_MINUTES },
  ) => {
    const pets = new PetStore(storage, {
      categoryExists: PETSTORE_STRICT_CATEGORIES ? categoryExists : undefined,
      decidingOrder,
      clock,
    });
    const categories = new CategoryStore(storage, pets.byCategory, clock);
    const orders = new OrderStore(storage, pets, clock, PETSTORE_RESERVATION_MINUTES * MINUTE_MS);
    repeat({ name: "expire_orders", by: "leader", run: () => orders.reservations.expireDue() });
    const sandboxes = new SandboxStore({
      storage,
      clock,
      limiter,
      stores: { pets, categories },
      foregroundWork: [orders.reservations],
      backgroundWork: [new WaitingDeliveries(storage)],
      shortenBans: shortenNotedBans,
      onReset: () => callers.authenticator.forget(),
      onClockAdvanced: runSoon,
    });
    return [
      ...bind(petOperations, petHandlers(pets)),
      ...bind(categoryOperations, categoryHandlers(categories)),
      ...bind(orderOperations, orderHandlers(orders)),
      ...bind(sandboxOperations, sandboxHandlers(sandboxes)),
      ...bind(shopOperations, shopHandlers(new ShopSummaries(storage, clock))),
    ];
  },
});

/** How many requests were recorded since a time, by client address and status. */
const addressCounts = (storage: Storage, since: number) => new RequestStore(storage).addresses(since);

/** Accounts, their keys and their usage. `openCallerParts` opens the parts that every request needs. */
const accounts: ServedDomain = {
  name: "accounts",
  operations: [...currentKeyOperations, ...keyOperations, ...usageOperations],
  eventTypes: keyEventTypes,
  settings: keySettings,
  accountTables: keyTables,
  commands: [
    ...accountCommands,
    ...keyCommands,
    ...banCommands,
    deprecationsCommand(keysForCommand),
    usageCommand(addressCounts),
  ],
  open: ({ clock, limiter, callers, operations }) => [
    ...bind(currentKeyOperations, currentKeyHandlers(new CurrentKey(callers.keys, callers.accounts, limiter))),
    ...bind(keyOperations, keyHandlers(callers.keys, callers.authenticator, banEndsFrom(limiter), clock)),
    ...bind(usageOperations, usageHandlers(callers.usage, operations)),
  ],
};

/** The operations on events and webhooks take their event types from these domains, and from that of webhooks. */
const eventSources: readonly ServedDomain[] = [shopDomain, accounts];
const eventTypes = [...eventSources.flatMap((domain) => domain.eventTypes ?? []), ...webhookEventTypes];
const operationsOnEvents = eventOperations(eventTypes);
const operationsOnWebhooks = webhookOperations(eventTypes);

/** Webhooks that are sent over a network. */
export function webhooksOver(networkOf: typeof systemNetwork): ServedDomain {
  return defineDomain<typeof webhookSettings>({
    name: "webhooks",
    operations: operationsOnWebhooks,
    eventTypes: webhookEventTypes,
    commands: [...webhookCommands, listenCommand],
    settings: { ...webhookSettings, ...listenSettings },
    shopTables: webhookShopTables,
    accountTables: webhookAccountTables,
    open: (host, settings) => {
      const parts = openWebhooks(host, settings, { types: eventTypes, networkOf });
      return bind(operationsOnWebhooks, webhookHandlers(operationsOnWebhooks, parts));
    },
  });
}

const events = defineDomain<typeof eventSettings>({
  name: "events",
  operations: operationsOnEvents,
  settings: eventSettings,
  commands: [eventsCommand(eventTypes.map(({ type }) => type))],
  shopTables: eventTables,
  open: ({ storage, expiry, log, repeat }, { PETSTORE_EVENT_DAYS }) => {
    const retention = new EventRetention(storage, PETSTORE_EVENT_DAYS);
    repeat({ name: "delete_old_events", by: "leader", run: () => retention.sweep(expiry.now()) });
    const eventLog = new EventLog(storage);
    const failed = (error: unknown) => log.failing("task_failed", error, { task: "follow_events" });
    return bind(operationsOnEvents, eventHandlers(eventLog, new EventWatch(eventLog, storage, failed), eventTypes));
  },
});

/** Records of the requests of all operations. */
const requests: ServedDomain = {
  name: "requests",
  operations: requestOperations,
  shopTables: requestTables,
  commands: requestCommands,
  open: ({ callers, operations }) => bind(requestOperations, requestHandlers(callers.requestStore, operations)),
};

/** Every domain whose operations are served. */
export const domains: readonly ServedDomain[] = [...eventSources, events, webhooksOver(systemNetwork), requests];
