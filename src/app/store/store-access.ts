import { type Config, isProduction } from "../../config.ts";
import { belongsToProduction, recordEnvironment } from "../../storage/environment.ts";
import { StorageUnusable } from "../../storage/errors.ts";
import type { Storage } from "../../storage/storage.ts";
import type { StoreAccess } from "../../terminal/command.ts";
import { engineOf } from "./engines.ts";

/**
 * Assigns a new store permanently to production or to another environment, as the settings say. Rejects with
 * `StorageUnusable` if the store belongs to the other one.
 */
export async function assignEnvironment(storage: Storage, config: Config): Promise<void> {
  const ours = isProduction(config);
  const stored = (await belongsToProduction(storage)) ?? (await storage.write(() => recordEnvironment(ours)));
  if (stored !== ours) throw wrongEnvironment(stored, config);
}

/**
 * Rejects with `StorageUnusable` if the settings contradict the store, for a command that runs next to the service. If the
 * environment is not set, the store decides. Returns whether the store belongs to production.
 */
async function requireEnvironment(storage: Storage, config: Config): Promise<boolean> {
  const ours = isProduction(config);
  const stored = (await belongsToProduction(storage)) ?? ours;
  if (stored !== ours && config.environmentIsSet) throw wrongEnvironment(stored, config);
  return stored;
}

function wrongEnvironment(isOfProduction: boolean, config: Config): StorageUnusable {
  const { place, setting } = engineOf(config);
  const advice = isOfProduction
    ? `For the production service, set PETSTORE_ENV=production. Otherwise set another ${setting}: to use ` +
      "its animals elsewhere, export them and import them there."
    : `Set PETSTORE_ENV to the value of its service, or set another ${setting}.`;
  const owner = isOfProduction ? "production" : "development or staging";
  return new StorageUnusable(
    `The store at ${place} belongs to ${owner}, but PETSTORE_ENV is ${config.environment}. ${advice}`,
  );
}

/** The store that the settings choose, for commands. */
export function storeAccess(config: Config): StoreAccess {
  return {
    open: (observer) => engineOf(config).open({ create: false, mayMigrate: false, observer }),
    openOrCreate: () => engineOf(config).open({ create: true, mayMigrate: false }),
    folderToCreate: () => engineOf(config).folderToCreate(),
    requireEnvironment: (storage) => requireEnvironment(storage, config),
  };
}
