import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { roomFault } from "../../files/room.ts";
import {
  digestOf,
  MIGRATIONS_TABLE,
  type Migration,
  newerSchema,
  olderSchema,
  schemaVersionOf,
  unreleasedSchema,
} from "../applied-migrations.ts";
import { StorageUnavailable, StorageUnusable } from "../errors.ts";
import { accessFault } from "./access.ts";
import { requireNotMoved } from "./moved-mark.ts";
import { writeStatistics } from "./statistics.ts";
import { createStore, emptyFile, requireNotEmpty } from "./store-files.ts";

/** Older releases of SQLite can corrupt a database in WAL mode. */
const OLDEST_SQLITE = "3.51.3";
/** The size in bytes to which the write-ahead log shrinks when all of it was copied. An import makes it longer. */
const LOG_SIZE = 16 * 1024 * 1024;
/** The page cache in KiB. If the working set does not fit, most reads cost a system call. */
const CACHE_SIZE = 8_192;
/** Identifies the file as ours (`PRAGMA application_id`): "PETS" in ASCII. */
export const APPLICATION_ID = 0x50455453;

const createMigrationsTable = `CREATE TABLE ${MIGRATIONS_TABLE} (step INTEGER PRIMARY KEY, digest TEXT NOT NULL) STRICT`;

/**
 * Opens the store. Creates the file and its folder if they are missing, and migrates an older schema, which is refused
 * if `mayMigrate` is false. `busyTimeout` is how long each statement waits for another process's lock, in milliseconds.
 * The wait blocks the thread, so keep it short in a server. Throws `StorageUnusable` with a reason for the operator.
 */
export function openDatabase(
  file: string,
  busyTimeout: number,
  migrations: readonly Migration[],
  mayMigrate = true,
): Database {
  return open(file, { busyTimeout, create: () => bytesOfNewStore(migrations) }, (database) =>
    prepareForWork(database, file, migrations, mayMigrate),
  );
}

/** A new store in memory. */
export function newDatabase(migrations: readonly Migration[]): Database {
  const database = new Database(":memory:", { strict: true, safeIntegers: true });
  migrate(database, ":memory:", migrations);
  return database;
}

function bytesOfNewStore(migrations: readonly Migration[]): Uint8Array {
  const database = newDatabase(migrations);
  try {
    const bytes = database.serialize();
    // The "file format version numbers" of SQLite's database header: 2 means WAL mode. Processes that open the new file
    // at the same time then need no exclusive lock to switch the mode.
    bytes.set([2, 2], 18);
    return bytes;
  } finally {
    database.close();
  }
}

/**
 * Opens an existing store for exclusive use: no other process can have it open at the same time. Throws
 * `StorageUnusable`, also if its schema is older.
 */
export function openExclusive(file: string, migrations: readonly Migration[]): Database {
  requireStore(file);
  return open(file, { busyTimeout: 0, isExclusive: true }, (database) =>
    prepareForWork(database, file, migrations, false),
  );
}

function prepareForWork(database: Database, file: string, migrations: readonly Migration[], mayMigrate: boolean): void {
  if (!mayMigrate) requireCurrentSchema(database, file, migrations);
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL"); // sync each commit before it is acknowledged
  database.run("PRAGMA wal_autocheckpoint = 0"); // `Checkpoints` runs them
  database.run(`PRAGMA journal_size_limit = ${LOG_SIZE}`);
  database.run("PRAGMA secure_delete = ON"); // overwrite deleted content with zeros, but not the old copies of rows that SQLite moves to other pages
  database.run("PRAGMA foreign_keys = ON");
  database.run(`PRAGMA cache_size = -${CACHE_SIZE}`); // negative: KiB, not pages
  migrate(database, file, migrations);
  requireWritable(database, migrations.length);
}

/** Opens an existing store and leaves its schema unchanged. Throws `StorageUnusable`. */
export function openWithoutMigrating(file: string): Database {
  requireStore(file);
  return open(file, { busyTimeout: 5_000 }, () => {});
}

/**
 * Throws `StorageUnusable` if another process has the store in `file` open. A missing or damaged store counts as not in
 * use.
 */
export function requireNotInUse(file: string): void {
  try {
    if (existsSync(file)) open(file, { busyTimeout: 0, isExclusive: true }, lockOnce).close();
  } catch (error) {
    if (isBusy((error as Error).cause)) throw storeInUse(file, error);
  }
}

function lockOnce(database: Database): void {
  database.run("BEGIN EXCLUSIVE");
  database.run("ROLLBACK");
}

export function storeInUse(file: string, cause: unknown): StorageUnusable {
  return new StorageUnusable(`The store at ${file} is in use. Stop its service first, and end other commands.`, {
    cause,
  });
}

function requireStore(file: string): void {
  if (!existsSync(file)) throw new StorageUnusable(`There is no store at ${file}.`);
}

interface FileOptions {
  /** Milliseconds. */
  readonly busyTimeout: number;
  /** Returns the bytes of a new store. Called if the store does not exist. */
  readonly create?: () => Uint8Array;
  readonly isExclusive?: boolean;
}

function open(file: string, options: FileOptions, prepare: (database: Database) => void): Database {
  const { busyTimeout, create, isExclusive = false } = options;
  let database: Database | undefined;
  try {
    requireNotMoved(file);
    if (create) createStore(file, create);
    requireNotEmpty(file);
    database = new Database(file, { create: false, readwrite: true, strict: true, safeIntegers: true });
    database.run(`PRAGMA busy_timeout = ${busyTimeout}`); // first, because any other statement can hit a lock
    if (isExclusive) database.run("PRAGMA locking_mode = EXCLUSIVE"); // before the first access, or it takes no lock
    requireRecentSqlite(database);
    requireOwnFile(database, file);
    // Otherwise in /var/tmp or /tmp, whose disk other programs may have filled. It holds for the whole process.
    database.run(`PRAGMA temp_store_directory = '${dirname(file).replaceAll("'", "''")}'`);
    requireNotMoved(file); // again: from here on, no other process can open it exclusively to move it
    prepare(database);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof StorageUnusable) throw error;
    const reason = `The store at ${file} cannot be opened: ${(error as Error).message}.`;
    throw new StorageUnusable((isBusy(error) ? undefined : accessFault(file)) ?? reason, { cause: error });
  }
}

/** Converts an error of SQLite on a store to `StorageUnavailable`. Returns other errors unchanged. */
export function asStorageError(error: unknown, file: string): unknown {
  const code = sqliteCode(error);
  if (code === "") return error;
  // SQLite itself names only a full disk, and that as it writes.
  const reason = /^SQLITE_(?:CANTOPEN|IOERR_WRITE)/.test(code) ? roomFault(dirname(file)) : undefined;
  return new StorageUnavailable(reason ?? (error as Error).message, { cause: error });
}

/** SQLite's name for an error (`SQLITE_FULL`); empty for other errors. */
export function sqliteCode(error: unknown): string {
  const code = error instanceof Error && error.name === "SQLiteError" ? (error as { code?: unknown }).code : "";
  return typeof code === "string" ? code : "";
}

/** True for SQLite's error about a lock that another connection holds. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error).startsWith("SQLITE_BUSY");
}

function readNumber(database: Database, sql: string): number {
  const row = database.query<Record<string, bigint>, []>(sql).get();
  return Number(Object.values(row ?? {})[0] ?? 0n);
}

function requireRecentSqlite(database: Database): void {
  const row = database.query<{ version: string }, []>("SELECT sqlite_version() AS version").get();
  const version = row?.version ?? "0";
  if (Bun.semver.order(version, OLDEST_SQLITE) < 0) {
    throw new StorageUnusable(`SQLite ${version} is too old: ${OLDEST_SQLITE} or later is needed.`);
  }
}

export function requireOwnFile(database: Database, file: string): void {
  if (readNumber(database, "SELECT count(*) FROM sqlite_schema") === 0) throw emptyFile(file);
  if (readNumber(database, "PRAGMA application_id") !== APPLICATION_ID) {
    throw new StorageUnusable(`${file} is a database of another program.`);
  }
}

function requireCurrentSchema(database: Database, file: string, migrations: readonly Migration[]): void {
  const version = schemaVersion(database, file, migrations);
  if (version < migrations.length) throw olderSchema(file, version, migrations.length);
}

function migrate(database: Database, file: string, migrations: readonly Migration[]): void {
  if (schemaVersion(database, file, migrations) === migrations.length) return;
  // IMMEDIATE: if several processes start at once, one migrates and the others wait.
  database
    .transaction(() => {
      const version = schemaVersion(database, file, migrations);
      if (version === 0) database.run(createMigrationsTable);
      for (const migration of migrations.slice(version)) {
        database.run(migration.sqlite);
        database.run(`INSERT INTO ${MIGRATIONS_TABLE} (digest) VALUES (?1)`, [digestOf(migration)]);
      }
      writeStatistics(database);
      database.run(`PRAGMA application_id = ${APPLICATION_ID}`);
      database.run(`PRAGMA user_version = ${migrations.length}`);
    })
    .immediate();
}

/** SQLite falls back to reading if it has no write permission, and even grants a write lock then. Only a write fails. */
function requireWritable(database: Database, version: number): void {
  database.run("BEGIN IMMEDIATE");
  database.run(`PRAGMA user_version = ${version}`);
  database.run("ROLLBACK");
}

/** The number of applied migrations. `user_version` holds it too, because that is faster to read. */
export function schemaVersion(database: Database, file: string, migrations: readonly Migration[]): number {
  const version = readNumber(database, "PRAGMA user_version");
  if (version === 0) return 0;
  if (!database.query("SELECT 1 FROM sqlite_schema WHERE name = ?1").get(MIGRATIONS_TABLE))
    throw unreleasedSchema(file);
  const applied = database.query<{ digest: string }, []>(`SELECT digest FROM ${MIGRATIONS_TABLE} ORDER BY step`).all();
  const known = schemaVersionOf(
    applied.map(({ digest }) => digest),
    migrations,
    file,
  );
  if (version > migrations.length) throw newerSchema(file, version, migrations.length); // as a running service does
  return known;
}
