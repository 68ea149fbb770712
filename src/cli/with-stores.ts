import { keyEnvironment } from "../app/identity.ts";
import { isProductionStore, openExistingStorage } from "../app/open-storage.ts";
import type { Config } from "../config.ts";
import { AccountStore } from "../domains/accounts/accounts.store.ts";
import { KeyStore } from "../domains/keys/keys.store.ts";
import type { Storage } from "../storage/storage.ts";

/** What a command works on that manages accounts and keys. */
export interface Stores {
  readonly storage: Storage;
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
}

/**
 * Runs work on the store that the settings choose, and closes it. Rejects with `StorageUnusable` where it cannot be
 * opened or belongs to another environment.
 */
export async function withStores<T>(
  config: Config,
  work: (stores: Stores) => T | Promise<T>,
  open: (config: Config) => Promise<Storage> = openExistingStorage,
): Promise<T> {
  const storage = await open(config);
  try {
    const keys = new KeyStore(storage, {
      ...keyEnvironment(config),
      isProduction: await isProductionStore(storage, config),
    });
    return await work({ storage, accounts: new AccountStore(storage), keys });
  } finally {
    await storage.close();
  }
}
