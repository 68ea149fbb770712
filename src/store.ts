import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "./config.ts";
import type { KeyWorld } from "./domains/accounts/api-key.ts";
import { keyWorldOf, settleKeyWorld } from "./domains/accounts/key-world.store.ts";
import { backupSqlite } from "./storage/sqlite/backup.ts";
import { openWhenFree } from "./storage/sqlite/opening.ts";
import { type Storage, type StorageObserver, StorageUnusable } from "./storage/storage.ts";

/**
 * Opens the store that the settings choose, and makes it where there is none. `stop` ends the wait for
 * one that is locked. Rejects with `StorageUnusable`.
 */
export function openStorage(config: Config, observer?: StorageObserver, stop?: AbortSignal): Promise<Storage> {
  return openWhenFree(databaseFile(config), observer, stop);
}

/** Opens the store that the settings choose. Rejects with `StorageUnusable`, also where there is none. */
export async function openExistingStorage(config: Config): Promise<Storage> {
  requireStore(config);
  return openStorage(config);
}

/** Copies the store that the settings choose into a file. Throws `StorageUnusable`. */
export function backupStorage(config: Config, target: string): void {
  requireStore(config);
  backupSqlite(databaseFile(config), target);
}

/** True if there is a store where the settings say. */
export function hasStore(config: Config): boolean {
  return existsSync(databaseFile(config));
}

function requireStore(config: Config): void {
  if (hasStore(config)) return;
  throw new StorageUnusable(`There is no store at ${databaseFile(config)}. PETSTORE_DATA_DIR says where it is.`);
}

/** Keys of production are told from all others by their prefix. */
export function keyWorld({ environment }: Config): KeyWorld {
  return environment === "production" ? "live" : "test";
}

/** Makes the store one of this environment, for good. Throws `StorageUnusable` where it is one of another. */
export async function settleWorld(storage: Storage, config: Config): Promise<void> {
  const ours = keyWorld(config);
  const kept = (await keyWorldOf(storage)) ?? (await storage.write(() => settleKeyWorld(ours)));
  if (kept !== ours) throw wrongEnvironment(kept, config);
}

/**
 * The world of the keys of the store, for whoever works on it beside its service: what the store
 * says, if the settings say nothing. Throws `StorageUnusable` where they contradict it.
 */
export async function worldOf(storage: Storage, config: Config): Promise<KeyWorld> {
  const ours = keyWorld(config);
  const kept = (await keyWorldOf(storage)) ?? ours;
  if (kept !== ours && config.environmentIsSet) throw wrongEnvironment(kept, config);
  return kept;
}

/** The end of a store on which the service must not go on, in words for the operator. */
export function failedStore(config: Config, error: Error): StorageUnusable {
  if (error instanceof StorageUnusable) return error;
  return new StorageUnusable(
    `The store at ${databaseFile(config)} failed: ${error.message}. The service ended at once, because it is not ` +
      "known what is on disk. Look at the disk, and start it again.",
    { cause: error },
  );
}

function wrongEnvironment(kept: KeyWorld, config: Config): StorageUnusable {
  const owner = kept === "live" ? "production" : "development or staging";
  return new StorageUnusable(
    `The store at ${databaseFile(config)} belongs to ${owner}, but PETSTORE_ENV is ${config.environment}. ` +
      "Set PETSTORE_ENV as its keys have it, or another PETSTORE_DATA_DIR.",
  );
}

function databaseFile({ dataDir }: Config): string {
  return join(dataDir, "petstore.db");
}
