import { bind } from "../contract/operation.ts";
import { accountCommands } from "../domains/accounts/accounts.command.ts";
import { categoryHandlers } from "../domains/categories/categories.handlers.ts";
import { categoryOperations } from "../domains/categories/categories.operations.ts";
import { categorySettings } from "../domains/categories/categories.settings.ts";
import { CategoryStore, categoryHasRecord } from "../domains/categories/categories.store.ts";
import { type Domain, defineDomain } from "../domains/domain.ts";
import { currentKeyHandlers } from "../domains/keys/current-key.handlers.ts";
import { currentKeyOperations } from "../domains/keys/current-key.operations.ts";
import { CurrentKey } from "../domains/keys/current-key.ts";
import { keyCommands } from "../domains/keys/keys.command.ts";
import { keyHandlers } from "../domains/keys/keys.handlers.ts";
import { keyOperations } from "../domains/keys/keys.operations.ts";
import { keySettings } from "../domains/keys/keys.settings.ts";
import { keysOfTerminal } from "../domains/keys/keys-of-terminal.ts";
import { limiterBans } from "../domains/keys/limiter-bans.ts";
import { orderHandlers } from "../domains/orders/orders.handlers.ts";
import { orderOperations } from "../domains/orders/orders.operations.ts";
import { orderSettings } from "../domains/orders/orders.settings.ts";
import { hasOpenOrder, OrderStore } from "../domains/orders/orders.store.ts";
import { exportCommand } from "../domains/pets/pets.export.command.ts";
import { petHandlers } from "../domains/pets/pets.handlers.ts";
import { importCommand } from "../domains/pets/pets.import.command.ts";
import { petOperations } from "../domains/pets/pets.operations.ts";
import { PetStore } from "../domains/pets/pets.store.ts";
import { deprecations } from "../domains/usage/deprecations.command.ts";
import { usageHandlers } from "../domains/usage/usage.handlers.ts";
import { usageOperations } from "../domains/usage/usage.operations.ts";
import type { Settings } from "../settings/setting.ts";
import type { IdentityHost } from "./identity.ts";

/** A domain that this service can open. */
export type ServedDomain = Domain<Settings, IdentityHost>;

const shopSettings = { ...categorySettings, ...orderSettings };

/**
 * Animals, categories and orders together: the animals of a category that is deleted move, an animal may have to name
 * a category that exists, and an order changes its animal, which stays as long as the order is open.
 */
const shop = defineDomain<typeof shopSettings>({
  name: "shop",
  operations: [...petOperations, ...categoryOperations, ...orderOperations],
  settings: shopSettings,
  commands: [
    importCommand({
      isStrict: (settings) => settings(categorySettings).PETSTORE_STRICT_CATEGORIES,
      hasRecord: categoryHasRecord,
    }),
    exportCommand,
  ],
  open: ({ storage, clock, repeat }, { PETSTORE_STRICT_CATEGORIES, PETSTORE_RESERVATION_MINUTES }) => {
    const pets = new PetStore(storage, {
      categoryExists: PETSTORE_STRICT_CATEGORIES ? categoryHasRecord : undefined,
      hasOpenOrder,
      clock,
    });
    const categories = new CategoryStore(storage, pets, clock);
    const orders = new OrderStore(storage, pets, clock, PETSTORE_RESERVATION_MINUTES * MINUTE);
    repeat({ name: "expire_orders", by: "leader", run: () => orders.expireDue() });
    return [
      ...bind(petOperations, petHandlers(pets)),
      ...bind(categoryOperations, categoryHandlers(categories)),
      ...bind(orderOperations, orderHandlers(orders)),
    ];
  },
});

/** Accounts, their keys and their usage: what requests need of them is opened with the service. */
const accounts: ServedDomain = {
  name: "accounts",
  operations: [...currentKeyOperations, ...keyOperations, ...usageOperations],
  settings: keySettings,
  commands: [...accountCommands, ...keyCommands, deprecations(keysOfTerminal)],
  open: ({ clock, limiter, identity }) => [
    ...bind(currentKeyOperations, currentKeyHandlers(new CurrentKey(identity.keys, identity.accounts, limiter))),
    ...bind(keyOperations, keyHandlers(identity.keys, identity.authenticator, limiterBans(limiter), clock)),
    ...bind(usageOperations, usageHandlers(identity.usage, identity.usageStore, clock)),
  ],
};

/** Every domain whose operations are served. */
export const domains: readonly ServedDomain[] = [shop, accounts];

/** In milliseconds. */
const MINUTE = 60_000;
