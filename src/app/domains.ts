import type { Config } from "../config.ts";
import { type BoundOperation, bind, type Operation } from "../contract/operation.ts";
import type { AccountStore } from "../domains/accounts/accounts.store.ts";
import { categoryHandlers } from "../domains/categories/categories.handlers.ts";
import { categoryOperations } from "../domains/categories/categories.operations.ts";
import { CategoryStore, categoryHasRecord } from "../domains/categories/categories.store.ts";
import { currentKeyHandlers } from "../domains/keys/current-key.handlers.ts";
import { currentKeyOperations } from "../domains/keys/current-key.operations.ts";
import { CurrentKey } from "../domains/keys/current-key.ts";
import { type KeyUses, keyHandlers } from "../domains/keys/keys.handlers.ts";
import { keyOperations } from "../domains/keys/keys.operations.ts";
import type { KeyStore } from "../domains/keys/keys.store.ts";
import { limiterBans } from "../domains/keys/limiter-bans.ts";
import { orderHandlers } from "../domains/orders/orders.handlers.ts";
import { orderOperations } from "../domains/orders/orders.operations.ts";
import { hasOpenOrder, OrderStore } from "../domains/orders/orders.store.ts";
import { petHandlers } from "../domains/pets/pets.handlers.ts";
import { petOperations } from "../domains/pets/pets.operations.ts";
import { PetStore } from "../domains/pets/pets.store.ts";
import { usageHandlers } from "../domains/usage/usage.handlers.ts";
import { usageOperations } from "../domains/usage/usage.operations.ts";
import type { UsageStore } from "../domains/usage/usage.store.ts";
import type { UsageCounter } from "../domains/usage/usage-counter.ts";
import type { Limiter } from "../http/ports.ts";
import type { Storage } from "../storage/storage.ts";
import type { Clock } from "../timing/clock.ts";
import type { BackgroundTask } from "./background-tasks.ts";

/** One folder of `domains/`, or more that work on each other: operations, and how they come to life on a store. */
export interface Domain {
  readonly operations: readonly Operation[];
  readonly open: (storage: Storage, config: Config, parts: DomainParts) => BoundOperation[];
}

/** What a domain may need of the service besides its store. */
export interface DomainParts {
  readonly clock: Clock;
  /** Has something done over and over while the service runs. */
  readonly repeat: (task: BackgroundTask) => void;
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly keyUses: KeyUses;
  readonly limiter: Limiter;
  readonly usage: UsageCounter;
  readonly usageStore: UsageStore;
}

/** Every domain whose operations are served. */
export const domains: readonly Domain[] = [
  { operations: [...petOperations, ...categoryOperations, ...orderOperations], open: openShop },
  {
    operations: [...currentKeyOperations, ...keyOperations, ...usageOperations],
    open: (_storage, _config, { clock, accounts, keys, keyUses, limiter, usage, usageStore }) => [
      ...bind(currentKeyOperations, currentKeyHandlers(new CurrentKey(keys, accounts, limiter))),
      ...bind(keyOperations, keyHandlers(keys, keyUses, limiterBans(limiter), clock)),
      ...bind(usageOperations, usageHandlers(usage, usageStore, clock)),
    ],
  },
];

/**
 * Together, because the animals of a category that is deleted move, an animal may have to name one that exists,
 * and an order changes its animal, which stays as long as the order is open.
 */
function openShop(storage: Storage, config: Config, { clock, repeat }: DomainParts): BoundOperation[] {
  const { strictCategories, reservationMinutes } = config;
  const pets = new PetStore(storage, {
    categoryExists: strictCategories ? categoryHasRecord : undefined,
    hasOpenOrder,
    clock,
  });
  const categories = new CategoryStore(storage, pets);
  const orders = new OrderStore(storage, pets, clock, reservationMinutes * MINUTE);
  repeat({ name: "expire_orders", by: "leader", run: () => orders.expireDue() });
  return [
    ...bind(petOperations, petHandlers(pets)),
    ...bind(categoryOperations, categoryHandlers(categories)),
    ...bind(orderOperations, orderHandlers(orders)),
  ];
}

/** In milliseconds. */
const MINUTE = 60_000;
