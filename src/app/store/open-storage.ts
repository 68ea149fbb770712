import { type Config, isProduction } from "../../config.ts";
import { StorageUnusable } from "../../storage/errors.ts";
import type { Restored } from "../../storage/sqlite/restore.ts";
import type { Contents } from "../../storage/sqlite/verify.ts";
import type { Storage, StorageObserver } from "../../storage/storage.ts";
import type { StoreState } from "../../storage/store-state.ts";
import { engineOf } from "./engines.ts";
import { claimStore } from "./serving-claim.ts";

/**
 * Opens the store that the settings choose, and creates it if there is none. `stop` ends the wait for a store that is
 * locked or unreachable. Rejects with `StorageUnusable`.
 */
export function openStorage(config: Config, observer?: StorageObserver, stop?: AbortSignal): Promise<Storage> {
  return engineOf(config).open(true, observer, stop);
}

/** Opens the store that the settings choose. Rejects with `StorageUnusable`, also if there is none. */
export function openExistingStorage(config: Config, observer?: StorageObserver): Promise<Storage> {
  return engineOf(config).open(false, observer);
}

/** Where the store that the settings choose is, for messages. */
export function placeOf(config: Config): string {
  return engineOf(config).place;
}

/** True if the store that the settings choose may have more than one serving process. */
export function isForManyProcesses(config: Config): boolean {
  return !engineOf(config).isForOneProcess;
}

/**
 * Reads the state of the chosen store without changing it; undefined if there is none. Rejects with `StorageUnusable` or
 * `StorageUnavailable`.
 */
export function inspectStore(config: Config): Promise<StoreState | undefined> {
  return engineOf(config).inspect();
}

/** Copies the store that the settings choose into a file, and verifies the copy. Throws `StorageUnusable`. */
export function backupStorage(config: Config, target: string): Contents {
  return engineOf(config).backup(target);
}

/**
 * Replaces the store that the settings choose with a copy of a backup. The old store stays under another name. Throws
 * `StorageUnusable`, also if a process serves the store or has it open; then nothing was replaced.
 */
export function restoreStorage(config: Config, backup: string, now: Date): Restored {
  const claim = claimStore(config);
  try {
    if (claim.failure) throw new StorageUnusable(`The store cannot be locked: ${claim.failure.message}.`);
    return engineOf(config).restore(backup, now, ({ belongsToProduction }) => {
      // A backup of production is accepted by all environments: `adopt` turns it into a store of theirs.
      if (belongsToProduction !== false || !isProduction(config)) return;
      throw new StorageUnusable(
        `${backup} belongs to development or staging, but PETSTORE_ENV is production. Nothing was replaced.`,
      );
    });
  } finally {
    claim.release();
  }
}

/** The folder in which opening would create the store; undefined if the store exists or is not in a folder. */
export function folderToCreate(config: Config): string | undefined {
  return engineOf(config).folderToCreate();
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
