import { bind } from "../contract/handler.ts";
import { setting, trueOrFalse } from "../settings/setting.ts";
import type { Storage } from "../storage/storage.ts";
import { type Clock, MINUTE_MS, systemClock } from "../timing/clock.ts";
import { noteAccountChange } from "./accounts/account-changes.store.ts";
import { categoryHandlers } from "./categories/categories.handlers.ts";
import { categoryEventTypes, categoryOperations } from "./categories/categories.operations.ts";
import {
  CategoryStore,
  categoryExists,
  categoryFigures,
  categoryIds,
  categoryTables,
} from "./categories/categories.store.ts";
import { defineDomain, type Host } from "./domain.ts";
import type { KeyAuthenticator } from "./keys/authenticator.ts";
import { metadataTable } from "./metadata/metadata.store.ts";
import { orderEventFilter, orderFigures } from "./orders/order-changes.ts";
import { orderHandlers, salesHandlers } from "./orders/orders.handlers.ts";
import { orderEventTypes, orderOperations } from "./orders/orders.operations.ts";
import { orderTable } from "./orders/orders.statements.ts";
import { decidingOrder, OrderStore } from "./orders/orders.store.ts";
import { Reservations } from "./orders/reservations.store.ts";
import { salesOperations } from "./orders/sales.operations.ts";
import { categoryAnimalTable } from "./pets/counts/category-animals.store.ts";
import { petFigures } from "./pets/counts/pet-figures.ts";
import { exportCommand } from "./pets/files/export.command.ts";
import { importCommand } from "./pets/files/import.command.ts";
import { petEventFilter } from "./pets/pet-change.ts";
import { petHandlers } from "./pets/pets.handlers.ts";
import { petEventTypes, petOperations } from "./pets/pets.operations.ts";
import { PetStore } from "./pets/pets.store.ts";
import { petTable } from "./pets/pets.table.ts";
import { severalPetsHandlers } from "./pets/several/several-pets.handlers.ts";
import { severalPetsOperations } from "./pets/several/several-pets.operations.ts";
import { addSamples } from "./samples.ts";
import { sandboxHandlers } from "./sandbox/sandbox.handlers.ts";
import { sandboxOperations } from "./sandbox/sandbox.operations.ts";
import { SandboxStore } from "./sandbox/sandbox.store.ts";
import { shopsAheadOfClock } from "./shops/ahead-of-clock.ts";
import { allFigures } from "./shops/figures.ts";
import { dayCounts, ShopSettingsStore } from "./shops/shop-settings.store.ts";
import { shopHandlers } from "./shops/shops.handlers.ts";
import { shopEventTypes, shopOperations as shopOperationsWith } from "./shops/shops.operations.ts";
import { shopTable } from "./shops/shops.statements.ts";
import { summaryOf } from "./shops/summary.store.ts";

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

/** What shops keep and show of animals, categories and orders. */
export const shopFigures = allFigures([petFigures, categoryFigures, orderFigures]);
export const readSummary = summaryOf(shopFigures);
export const days = dayCounts(shopFigures.today);
const shopOperations = shopOperationsWith(shopFigures);

/** What the domain needs of the service: of callers, only that a reset of a sandbox changes the shop of its keys. */
interface ShopHost extends Host {
  readonly callers: { readonly authenticator: Pick<KeyAuthenticator, "forget"> };
}

/**
 * Animals, categories and orders are one domain because they depend on each other: deleting a category moves its
 * animals, an animal may need a category that exists, and an order changes its animal, which cannot be deleted while the
 * order is open. A sandbox holds them all, and can be reset.
 */
export const shopDomain = defineDomain<typeof settings, ShopHost>({
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
    importCommand(
      (storage, valuesOf, isStrict) =>
        petsOf(storage, isStrict || valuesOf(settings).PETSTORE_STRICT_CATEGORIES, systemClock),
      categoryIds,
    ),
    exportCommand,
  ],
  tables: [shopTable(shopFigures), petTable, categoryAnimalTable, ...categoryTables, orderTable, metadataTable],
  open: (
    { storage, clock, log, repeat, runSoon, hasDueTimes, dueTimes, callers },
    { PETSTORE_STRICT_CATEGORIES, PETSTORE_RESERVATION_MINUTES },
  ) => {
    const pets = petsOf(storage, PETSTORE_STRICT_CATEGORIES, clock);
    const categories = new CategoryStore(storage, clock);
    const orders = new OrderStore(clock, PETSTORE_RESERVATION_MINUTES * MINUTE_MS);
    const reservations = new Reservations(storage, clock);
    repeat({ name: "expire_orders", by: "leader", run: () => reservations.expireDue() });
    hasDueTimes(reservations);
    const sandboxes = new SandboxStore({
      storage,
      clock,
      dueTimes,
      noteReset: (accountId) => noteAccountChange(accountId, (changed) => callers.authenticator.forget(changed)),
      addSamples: (author, now) => addSamples(author, now, storage),
      onFastForward: runSoon,
    });
    const shopSettings = new ShopSettingsStore(storage, clock, days);
    repeat({ name: "renew_time_zones", by: "leader", run: () => shopSettings.renewOffsets() });
    repeat({ name: "watch_times_of_shops", by: "leader", run: shopsAheadOfClock({ storage, clock, log }) });
    return [
      ...bind(petOperations, petHandlers(pets)),
      ...bind(severalPetsOperations, severalPetsHandlers(pets.checks)),
      ...bind(categoryOperations, categoryHandlers(categories)),
      ...bind(orderOperations, orderHandlers(orders)),
      ...bind(salesOperations, salesHandlers(clock)),
      ...bind(sandboxOperations, sandboxHandlers(sandboxes)),
      ...bind(shopOperations, shopHandlers(clock, shopSettings, readSummary)),
    ];
  },
});

function petsOf(storage: Storage, isStrict: boolean, clock: Clock): PetStore {
  return new PetStore(storage, {
    categoryExists: isStrict ? categoryExists : undefined,
    orderOf: decidingOrder,
    clock,
  });
}
