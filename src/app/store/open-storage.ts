import type { Config } from "../../config.ts";
import { StorageUnusable } from "../../storage/errors.ts";
import type { Storage, StorageObserver } from "../../storage/storage.ts";
import { engineOf } from "./engines.ts";

/**
 * Opens the store that the settings choose, for a service: creates it if there is none and `create` is not false, and
 * migrates an older schema. `stop` ends the wait for a store that is locked or unreachable. Rejects with
 * `StorageUnusable`.
 */
export function openStorage(
  config: Config,
  observer?: StorageObserver,
  stop?: AbortSignal,
  create = true,
): Promise<Storage> {
  return engineOf(config).open({ create, mayMigrate: true, observer, stop });
}

/** An error for the operator about a store that failed so that the service must end. */
export function failedStore(config: Config, error: Error): StorageUnusable {
  if (error instanceof StorageUnusable) return error;
  return new StorageUnusable(
    `The store at ${engineOf(config).place} failed: ${error.message}. The service ended at once, because it is not ` +
      "known what is on disk. Look at the disk, and start it again.",
    { cause: error },
  );
}
