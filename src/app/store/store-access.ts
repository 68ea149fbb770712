import type { Config } from "../../config.ts";
import type { StoreAccess } from "../../terminal/command.ts";
import { requireEnvironment } from "./check-environment.ts";
import { engineOf } from "./engines.ts";

/** The store that the settings choose, for commands. */
export function storeAccess(config: Config): StoreAccess {
  return {
    open: (observer) => engineOf(config).open({ create: false, mayMigrate: false, observer }),
    openOrCreate: () => engineOf(config).open({ create: true, mayMigrate: false }),
    folderToCreate: () => engineOf(config).folderToCreate(),
    requireEnvironment: (storage) => requireEnvironment(storage, config),
  };
}
