import { StorageUnavailable } from "../../storage/errors.ts";
import type { Storage } from "../../storage/storage.ts";
import { type CommandContext, CommandFailed, withStore } from "../../terminal/command.ts";
import { keySettings } from "./api-key.ts";
import { KeyStore } from "./keys.store.ts";
import type { ApiKey } from "./keys.ts";

/** The keys in a store, for a command. Rejects with `StorageUnusable` if the store belongs to another environment. */
export async function keysForCommand(storage: Storage, { store, settings }: CommandContext): Promise<KeyStore> {
  const isProduction = await store.requireEnvironment(storage);
  return new KeyStore(storage, { isProduction, cell: settings(keySettings).PETSTORE_CELL });
}

/**
 * The ends of current bans in Unix seconds, by key. Rejects with `bans_unknown` if the server that holds them does not
 * respond.
 */
export function readBanEnds(
  { store }: CommandContext,
  storage: Storage,
  keys: readonly ApiKey[],
): Promise<ReadonlyMap<string, number>> {
  const asked = keys.map(({ id, accountId, mode }) => ({ keyId: id, accountId, mode }));
  return accessBans(() => store.banEnds(storage, asked));
}

/**
 * Reads or changes bans. Rejects with `bans_unknown` if the server that holds them does not respond; the message begins
 * with `result`.
 */
export async function accessBans<T>(work: () => Promise<T>, result = "Which keys are banned is not known"): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StorageUnavailable) throw error;
    const message = `${result}: ${(error as Error).message}`;
    throw new CommandFailed("bans_unknown", message, { cause: error });
  }
}

/** Runs work on the keys of the store, and closes it. */
export function withKeys<T>(
  context: CommandContext,
  work: (keys: KeyStore, storage: Storage) => Promise<T>,
): Promise<T> {
  return withStore(context, async (storage) => work(await keysForCommand(storage, context), storage));
}
