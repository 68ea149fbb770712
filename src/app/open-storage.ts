import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Config, isProduction, type settings } from "../config.ts";
import { belongsToProduction, ensureEnvironment } from "../domains/keys/store-environment.store.ts";
import {
  type MoveOptions,
  type MoveProgress,
  type MoveResult,
  moveStore,
} from "../storage/migrate-store/migrate-store.ts";
import { type PostgresAddress } from "../storage/postgres/address.ts";
import { openPostgres } from "../storage/postgres/opening.ts";
import { requireNoOtherSession } from "../storage/postgres/other-sessions.ts";
import { WholePostgres } from "../storage/postgres/whole-postgres.ts";
import { backupSqlite } from "../storage/sqlite/backup.ts";
import { openWhenFree } from "../storage/sqlite/opening.ts";
import { ServingLock, StoreServed } from "../storage/sqlite/serving-lock.ts";
import { WholeSqlite } from "../storage/sqlite/whole-sqlite.ts";
import { type Storage, type StorageObserver, StorageUnusable } from "../storage/storage.ts";

/** The name of an embedded store in its folder. */
const FILE = "petstore.db";

/** An engine with the place of its store. */
interface Engine {
  /** Where the store is, for people. */
  readonly place: string;
  /** The setting that says so. */
  readonly setting: keyof typeof settings;
  /** True if more than one serving process is no use. */
  readonly isForOneProcess: boolean;
  /** The folder that opening the store would fill for the first time; undefined if that is not known. */
  newPlace(): string | undefined;
  /** Opens the store, and makes it if `create` says so. Rejects with `StorageUnusable`. */
  open(create: boolean, observer?: StorageObserver, stop?: AbortSignal): Promise<Storage>;
  /** Takes the right to serve the store where one process alone may; throws `StoreServed` where another one has it. */
  lock?(): ServingLock;
  /** Rejects with `StorageUnusable` where there is no store, or somebody has it open. */
  requireUnused(): Promise<void>;
  /** Copies the store into a file. Throws `StorageUnusable`. */
  backup(target: string): void;
}

/** The engine that the settings choose. */
function engineOf({ database, dataDir }: Config): Engine {
  return database ? postgres(database) : sqlite(dataDir);
}

function sqlite(dataDir: string): Engine {
  const file = join(dataDir, FILE);
  const setting = "PETSTORE_DATA_DIR";
  const requireStore = () => {
    if (!existsSync(file)) throw new StorageUnusable(`There is no store at ${file}. ${setting} says where it is.`);
  };
  return {
    place: file,
    setting,
    isForOneProcess: true,
    newPlace: () => (existsSync(file) ? undefined : dataDir),
    lock: () => new ServingLock(dataDir),
    requireUnused: async () => {
      requireStore();
      WholeSqlite.open(file).close();
    },
    open: async (create, observer, stop) => {
      if (!create) requireStore();
      return openWhenFree(file, observer, stop);
    },
    backup: (target) => {
      requireStore();
      backupSqlite(file, target);
    },
  };
}

function postgres(address: PostgresAddress): Engine {
  return {
    place: address.shown,
    setting: "PETSTORE_DATABASE_URL",
    isForOneProcess: false,
    newPlace: () => undefined,
    requireUnused: () => requireNoOtherSession(address),
    open: (create, observer, stop) => openPostgres(address, { create, observer, stop }),
    backup: () => {
      throw new StorageUnusable(
        `The store is in ${address.shown}, and PostgreSQL has its own tools for copies of a database: pg_dump, or pg_basebackup for its whole server.`,
      );
    },
  };
}

/**
 * Opens the store that the settings choose, and makes it where there is none. `stop` ends the wait for
 * one that is locked or away. Rejects with `StorageUnusable`.
 */
export function openStorage(config: Config, observer?: StorageObserver, stop?: AbortSignal): Promise<Storage> {
  return engineOf(config).open(true, observer, stop);
}

/** Opens the store that the settings choose. Rejects with `StorageUnusable`, also where there is none. */
export function openExistingStorage(config: Config, observer?: StorageObserver): Promise<Storage> {
  return engineOf(config).open(false, observer);
}

/** A process's claim to serve the store. */
export interface ServingClaim {
  /** Why no other process is kept from serving the store too; undefined if all are. */
  readonly failure?: Error;
  /** Tells others where this process serves. */
  announce(address: string): void;
  release(): void;
}

/**
 * Claims the store that the settings choose for this serving process, where it is for one process alone. Throws
 * `StorageUnusable` where another process serves it.
 */
export function claimStore(config: Config): ServingClaim {
  const engine = engineOf(config);
  try {
    const lock = engine.lock?.();
    return {
      announce: (address) => lock?.announce({ pid: process.pid, address }),
      release: () => lock?.release(),
    };
  } catch (error) {
    if (error instanceof StoreServed) throw storeServed(engine, error);
    return { failure: error as Error, announce: () => {}, release: () => {} }; // opening the store may tell why
  }
}

function storeServed({ place, setting }: Engine, error: StoreServed): StorageUnusable {
  const { pid, address } = error.by ?? {};
  const who = [pid && `process ${pid}`, address].filter(Boolean).join(", ");
  return new StorageUnusable(
    `The store at ${place} is served by another process${who && `: ${who}`}. Stop that one first, or set another ${setting}.`,
    { cause: error },
  );
}

/**
 * Opens the store that the settings choose, which nobody else may have open. Until `release`, no service can be started
 * on an embedded store. Rejects with `StorageUnusable`, also where there is none.
 */
export async function openUnused(config: Config): Promise<{ storage: Storage; release: () => void }> {
  const engine = engineOf(config);
  await engine.requireUnused();
  const claim = claimStore(config);
  if (claim.failure) {
    throw new StorageUnusable(`The store at ${engine.place} cannot be locked: ${claim.failure.message}.`);
  }
  try {
    await engine.requireUnused(); // once more: from here on, nobody new serves it
    return { storage: await engine.open(false), release: () => claim.release() };
  } catch (error) {
    claim.release();
    throw error;
  }
}

/** Where the store is that the settings choose, for people. */
export function placeOf(config: Config): string {
  return engineOf(config).place;
}

/** True if the store that the settings choose may have more than one serving process. */
export function isForManyProcesses(config: Config): boolean {
  return !engineOf(config).isForOneProcess;
}

/** Throws `StorageUnusable` where the store that the settings choose is for one serving process. */
export function requireSharedStore(config: Config): void {
  if (isForManyProcesses(config)) return;
  throw new StorageUnusable(
    `The embedded store at ${engineOf(config).place} is for one process, which answers from its memory what it alone may write, and is ` +
      "the faster for it. Leave --workers out, or set PETSTORE_DATABASE_URL to a store that processes share.",
  );
}

/** Copies the store that the settings choose into a file. Throws `StorageUnusable`. */
export function backupStorage(config: Config, target: string): void {
  engineOf(config).backup(target);
}

/** A `MoveProgress` with the number of rows that there are. */
interface Migration extends Omit<MoveOptions, "pristine" | "onProgress"> {
  readonly onProgress: (progress: MoveProgress & { of: number }) => void;
}

/**
 * Moves the embedded store in a folder, or in the file of this path, to a database. Nobody else can use
 * either meanwhile. From then on the embedded store is refused. Rejects with `StorageUnusable` or
 * `StorageUnavailable`; nothing was moved then, unless the reason says so.
 */
export async function migrateStore(
  from: string,
  to: PostgresAddress,
  { stop, onProgress }: Migration,
): Promise<MoveResult> {
  const isFolder = existsSync(from) && statSync(from).isDirectory();
  const source = WholeSqlite.open(isFolder ? join(from, FILE) : from);
  try {
    const target = await WholePostgres.open(to);
    const pristine = WholeSqlite.pristine();
    try {
      const of = source.count();
      const result = await moveStore(source, target, {
        pristine,
        stop,
        onProgress: (state) => onProgress({ ...state, of }),
      });
      source.markMoved(to.shown);
      return result;
    } finally {
      pristine.close();
      target.close();
    }
  } finally {
    source.close();
  }
}

/** The folder that opening the store would fill for the first time; undefined if it would not, or that is not known. */
export function newStorePlace(config: Config): string | undefined {
  return engineOf(config).newPlace();
}

/**
 * Makes the store belong to production, or to another environment, as the settings say, for good. Rejects with
 * `StorageUnusable` where it belongs to the other one.
 */
export async function requireEnvironment(storage: Storage, config: Config): Promise<void> {
  const ours = isProduction(config);
  const kept = (await belongsToProduction(storage)) ?? (await storage.write(() => ensureEnvironment(ours)));
  if (kept !== ours) throw wrongEnvironment(kept, config);
}

/**
 * Whether the store belongs to production, for a command that works on it beside its service: what the store says, if
 * the settings say nothing. Rejects with `StorageUnusable` where they contradict it.
 */
export async function isProductionStore(storage: Storage, config: Config): Promise<boolean> {
  const ours = isProduction(config);
  const kept = (await belongsToProduction(storage)) ?? ours;
  if (kept !== ours && config.environmentIsSet) throw wrongEnvironment(kept, config);
  return kept;
}

/** The end of a store on which the service must not go on, in words for the operator. */
export function failedStore(config: Config, error: Error): StorageUnusable {
  if (error instanceof StorageUnusable) return error;
  return new StorageUnusable(
    `The store at ${engineOf(config).place} failed: ${error.message}. The service ended at once, because it is not ` +
      "known what is on disk. Look at the disk, and start it again.",
    { cause: error },
  );
}

function wrongEnvironment(isOfProduction: boolean, config: Config): StorageUnusable {
  const { place, setting } = engineOf(config);
  const advice = isOfProduction
    ? `For the service of production, set PETSTORE_ENV=production. Otherwise set another ${setting}, or, if this is a ` +
      "copy, turn it into a store for another environment first: adopt --help tells how."
    : `Set PETSTORE_ENV as its service has it, or another ${setting}.`;
  const owner = isOfProduction ? "production" : "development or staging";
  return new StorageUnusable(
    `The store at ${place} belongs to ${owner}, but PETSTORE_ENV is ${config.environment}. ${advice}`,
  );
}
