import type { Storage } from "../../storage/storage.ts";
import { type CommandContext, withStore } from "../../terminal/command.ts";
import { keySettings } from "./api-key.ts";
import { KeyStore } from "./keys.store.ts";

/** The keys in a store, for a command. Rejects with `StorageUnusable` if the store belongs to another environment. */
export async function keysForCommand(storage: Storage, { store, settings }: CommandContext): Promise<KeyStore> {
  const isProduction = await store.requireEnvironment(storage);
  return new KeyStore(storage, { isProduction, cell: settings(keySettings).PETSTORE_CELL });
}

/** Runs work on the keys of the store, and closes it. */
export function withKeys<T>(
  context: CommandContext,
  work: (keys: KeyStore, storage: Storage) => Promise<T>,
): Promise<T> {
  return withStore(context, async (storage) => work(await keysForCommand(storage, context), storage));
}
