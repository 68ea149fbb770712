import { bind, type Handlers } from "../contract/handler.ts";
import { setting, trueOrFalse } from "../settings/setting.ts";
import { MINUTE_MS } from "../timing/clock.ts";
import type { ServedHost } from "./callers.ts";
import { categoryHandlers } from "./categories/categories.handlers.ts";
import { categoryEventTypes, categoryOperations } from "./categories/categories.operations.ts";
import { CategoryStore, categoryExists, categoryIds, categoryTables } from "./categories/categories.store.ts";
import { defineDomain } from "./domain.ts";
import { authorOf } from "./events/publish.ts";
import { storedResponseTables } from "./idempotency/stored-responses.store.ts";
import { metadataTables } from "./metadata/metadata.store.ts";
import { orderEventFilter } from "./orders/order-changes.ts";
import { orderHandlers, salesHandlers } from "./orders/orders.handlers.ts";
import { orderEventTypes, orderOperations } from "./orders/orders.operations.ts";
import { orderTables } from "./orders/orders.statements.ts";
import { decidingOrder, OrderStore } from "./orders/orders.store.ts";
import { salesOperations } from "./orders/sales.operations.ts";
import { petEventFilter } from "./pets/pet-change.ts";
import { exportCommand } from "./pets/pets.export.command.ts";
import { petHandlers, severalPetsHandlers } from "./pets/pets.handlers.ts";
import { importCommand } from "./pets/pets.import.command.ts";
import { petEventTypes, petOperations } from "./pets/pets.operations.ts";
import { petTables } from "./pets/pets.statements.ts";
import { PetStore } from "./pets/pets.store.ts";
import { petsByCategory } from "./pets/pets-by-category.store.ts";
import { severalPetsOperations } from "./pets/several-pets.operations.ts";
import { sampleStores } from "./sample-stores.ts";
import { sandboxHandlers } from "./sandbox/sandbox.handlers.ts";
import { sandboxOperations } from "./sandbox/sandbox.operations.ts";
import { SandboxStore } from "./sandbox/sandbox.store.ts";
import { shopsAheadOfClock } from "./shops/ahead-of-clock.ts";
import { ShopSettingsStore } from "./shops/shop-settings.store.ts";
import { shopEventTypes, shopOperations } from "./shops/shops.operations.ts";
import { ShopSummaries } from "./shops/summary.store.ts";

const settings = {
  PETSTORE_STRICT_CATEGORIES: setting<boolean>({
    meaning: "Whether a `categoryId` without a category is refused. Existing animals keep theirs.",
    fallback: "false",
    ...trueOrFalse,
  }),
  PETSTORE_RESERVATION_MINUTES: setting<number>({
    meaning: "How long a new order reserves its animal, unless it is confirmed or cancelled first.",
    fallback: "15",
    expects: "a whole number of minutes from 1 to 43200, which is 30 days",
    parse: (text) => (/^[1-9][0-9]{0,4}$/.test(text) && Number(text) <= 43_200 ? Number(text) : undefined),
  }),
};

/**
 * Animals, categories and orders are one domain because they depend on each other: deleting a category moves its
 * animals, an animal may need a category that exists, and an order changes its animal, which cannot be deleted while the
 * order is open. A sandbox holds them all, and can be reset.
 */
export const shopDomain = defineDomain<typeof settings, ServedHost>({
  name: "shop",
  operations: [
    ...petOperations,
    ...severalPetsOperations,
    ...categoryOperations,
    ...orderOperations,
    ...salesOperations,
    ...sandboxOperations,
    ...shopOperations,
  ],
  eventTypes: [...petEventTypes, ...categoryEventTypes, ...orderEventTypes, ...shopEventTypes],
  eventFilters: [petEventFilter, orderEventFilter],
  settings,
  commands: [
    importCommand((valuesOf) => valuesOf(settings).PETSTORE_STRICT_CATEGORIES, {
      categoryExists,
      categoryIds,
      decidingOrder,
    }),
    exportCommand,
  ],
  // Stored responses belong to no resource: POST and PATCH of every domain have them. One domain must list their table.
  shopTables: [...petTables, ...categoryTables, ...orderTables, ...metadataTables, ...storedResponseTables],
  open: (
    { storage, clock, log, repeat, runSoon, hasDueTimes, dueTimes, callers },
    { PETSTORE_STRICT_CATEGORIES, PETSTORE_RESERVATION_MINUTES },
  ) => {
    const pets = new PetStore(storage, {
      categoryExists: PETSTORE_STRICT_CATEGORIES ? categoryExists : undefined,
      decidingOrder,
      clock,
    });
    const categories = new CategoryStore(petsByCategory, clock);
    const orders = new OrderStore(storage, pets, clock, PETSTORE_RESERVATION_MINUTES * MINUTE_MS);
    repeat({ name: "expire_orders", by: "leader", run: () => orders.reservations.expireDue() });
    hasDueTimes(orders.reservations);
    const sandboxes = new SandboxStore({
      storage,
      clock,
      storesOn: sampleStores(storage),
      dueTimes,
      onReset: (accountId) => callers.authenticator.forget(accountId),
      onFastForward: runSoon,
    });
    const shopSettings = new ShopSettingsStore(storage, clock);
    repeat({ name: "renew_time_zones", by: "leader", run: () => shopSettings.renewOffsets() });
    repeat({ name: "watch_times_of_shops", by: "leader", run: shopsAheadOfClock({ storage, clock, log }) });
    return [
      ...bind(petOperations, petHandlers(pets)),
      ...bind(severalPetsOperations, severalPetsHandlers(pets)),
      ...bind(categoryOperations, categoryHandlers(categories, storage)),
      ...bind(orderOperations, orderHandlers(orders)),
      ...bind(salesOperations, salesHandlers(clock)),
      ...bind(sandboxOperations, sandboxHandlers(sandboxes)),
      ...bind(shopOperations, shopHandlers(new ShopSummaries(clock), shopSettings)),
    ];
  },
});

function shopHandlers(summaries: ShopSummaries, stored: ShopSettingsStore): Handlers<typeof shopOperations> {
  return {
    *updateShop({ caller, requestId, body }) {
      yield* stored.update(authorOf(caller, requestId), caller.accountId, body);
      return { body: yield* summaries.get(caller.shop) };
    },

    *getShop({ caller }) {
      return { body: yield* summaries.get(caller.shop) };
    },
  };
}
