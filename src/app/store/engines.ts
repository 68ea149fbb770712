import { existsSync } from "node:fs";
import { join } from "node:path";
import type { settings } from "../../config/service-settings.ts";
import type { Config } from "../../config.ts";
import { SECRET_KEY_FILE } from "../../domains/webhooks/secrets/secret-keys.ts";
import { StorageUnusable } from "../../storage/errors.ts";
import type { PostgresAddress } from "../../storage/postgres/address.ts";
import { inspectPostgres, openPostgres, requireNoOtherSession } from "../../storage/postgres/opening.ts";
import { linkFault } from "../../storage/sqlite/access.ts";
import { backupSqlite } from "../../storage/sqlite/backup.ts";
import { requireNotInUse } from "../../storage/sqlite/database.ts";
import { inspectSqlite, openSqlite } from "../../storage/sqlite/opening.ts";
import { type Restored, restoreSqlite } from "../../storage/sqlite/restore.ts";
import { ServingLock, type ServingProcess, servedBy } from "../../storage/sqlite/serving-lock.ts";
import { realStoreFile } from "../../storage/sqlite/store-files.ts";
import type { Contents } from "../../storage/sqlite/verify.ts";
import type { OpenStorage, StorageObserver } from "../../storage/storage.ts";
import { migrations } from "../schema.ts";
import { backupsIn } from "./backup-folder.ts";
import { readState, type StoreState } from "./store-state.ts";

/** The name of an embedded store in its folder. */
export const STORE_FILE = "petstore.db";

interface OpeningOptions {
  /** Creates the store if it is missing. */
  readonly create: boolean;
  /** Migrates a store with an older schema. If false, it is refused: a service of an earlier release may use it. */
  readonly mayMigrate: boolean;
  readonly observer?: StorageObserver | undefined;
  readonly stop?: AbortSignal | undefined;
}

/** An engine and the location of its store. */
export interface Engine {
  /** Where the store is, for messages. */
  readonly place: string;
  /** The setting that chooses the place. */
  readonly setting: keyof typeof settings;
  /** The folder in which opening would create the store; undefined if the store exists or is not in a folder. */
  folderToCreate(): string | undefined;
  /** Opens the store. Rejects with `StorageUnusable`. */
  open(options: OpeningOptions): Promise<OpenStorage>;
  /** Locks a store that only one process may serve; absent if several may. Throws `StoreServed` if another has the lock. */
  lock?(): ServingLock;
  /** The process that serves the store alone, or was the last one to do so; undefined if it is unknown. */
  servedBy(): ServingProcess | undefined;
  /**
   * Rejects with `StorageUnusable` if another process has the store open, and for SQLite if there is no store. Rejects
   * with `StorageUnavailable` if the database server does not respond.
   */
  requireNotInUse(): Promise<void>;
  /**
   * Reads the state of the store without changing it; undefined if there is none. Rejects with `StorageUnusable` or
   * `StorageUnavailable`.
   */
  inspect(): Promise<StoreState | undefined>;
  /** Copies the store into a file, and verifies the copy. Throws `StorageUnusable`. */
  backup(target: string): Contents;
  /**
   * Replaces the store, which no process may have open, with a copy of a backup, which `accept` may refuse by an error.
   * Throws `StorageUnusable`.
   */
  restore(backup: string, now: Date, accept: (contents: Contents) => void): Restored;
}

/** The engine that the settings choose. */
export function engineOf(config: Config): Engine {
  return config.database ? postgres(config.database) : sqlite(config);
}

function sqlite({ dataDir, backups, environment }: Config): Engine {
  /** As the settings name it: the file, or a link to it. */
  const givenPath = join(dataDir, STORE_FILE);
  const file = realStoreFile(givenPath);
  const setting = "PETSTORE_DATA_DIR";
  /** Throws `StorageUnusable` for a link that leads nowhere: the store may be on a disk that is not mounted. */
  const exists = () => {
    const fault = linkFault(file);
    if (fault !== undefined) throw new StorageUnusable(fault);
    return existsSync(file);
  };
  const missing = () => {
    const hint = environment === "production" ? " `serve --create` or `accounts create` makes the first one." : "";
    return new StorageUnusable(`There is no store at ${file}. ${setting} says where it is.${hint}`);
  };
  /** Throws `StorageUnusable` if something is left of a store: a new one would not know its accounts and keys. */
  const requireNothingLeft = () => {
    if (existsSync(`${file}-wal`)) return; // it may hold acknowledged changes: opening says what to do
    const [backup] = backupsIn(backups.folder);
    const left = [join(dataDir, SECRET_KEY_FILE), backup?.file].find((path) => path !== undefined && existsSync(path));
    if (left === undefined) return;
    throw new StorageUnusable(
      `There is no store at ${file}, but ${left} is left of one. Put the store back, or restore a backup: restore FILE ` +
        "--yes. To start with an empty store, move what is left away.",
    );
  };
  const requireStore = () => {
    if (!exists()) throw missing();
  };
  return {
    place: file,
    setting,
    folderToCreate: () => (exists() ? undefined : dataDir),
    lock: () => new ServingLock(file),
    servedBy: () => servedBy(file),
    requireNotInUse: async () => {
      requireStore();
      requireNotInUse(file);
    },
    open: async ({ create, ...options }) => {
      if (!exists()) {
        requireNothingLeft();
        if (!create) throw missing();
      }
      return openSqlite(givenPath, { ...options, migrations }); // not `file`: the store notices when the link changes
    },
    inspect: async () => (exists() ? inspectSqlite(file, migrations, readState) : undefined),
    backup: (target) => {
      requireStore();
      return backupSqlite(file, target, migrations);
    },
    restore: (backup, now, accept) => {
      exists(); // throws for a link that leads nowhere
      requireNotInUse(file);
      return restoreSqlite(backup, file, { migrations, now, accept });
    },
  };
}

function postgres(address: PostgresAddress): Engine {
  const refuse = () => {
    throw new StorageUnusable(
      `The store is in ${address.shown}, and PostgreSQL has its own tools for copies of a database: pg_dump, or pg_basebackup for its whole server.`,
    );
  };
  return {
    place: address.shown,
    setting: "PETSTORE_DATABASE_URL",
    folderToCreate: () => undefined,
    servedBy: () => undefined,
    requireNotInUse: () => requireNoOtherSession(address),
    open: (options) => openPostgres(address, { ...options, migrations }),
    inspect: () => inspectPostgres(address, migrations, readState),
    backup: refuse,
    restore: refuse,
  };
}

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
): Promise<OpenStorage> {
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
