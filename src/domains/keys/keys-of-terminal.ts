import type { Storage } from "../../storage/storage.ts";
import type { Terminal } from "../../terminal/command.ts";
import { keySettings } from "./keys.settings.ts";
import { KeyStore } from "./keys.store.ts";

/** The keys in a store, for a command. Rejects with `StorageUnusable` if the store belongs to another environment. */
export async function keysOfTerminal(storage: Storage, { store, settings }: Terminal): Promise<KeyStore> {
  const isProduction = await store.isProduction(storage);
  return new KeyStore(storage, { isProduction, cell: settings(keySettings).PETSTORE_CELL });
}

/** Runs work on the keys of the store, and closes it. */
export async function withKeys<T>(
  terminal: Terminal,
  work: (keys: KeyStore, storage: Storage) => Promise<T>,
): Promise<T> {
  const storage = await terminal.store.open();
  try {
    return await work(await keysOfTerminal(storage, terminal), storage);
  } finally {
    await storage.close();
  }
}
