import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { StorageUnavailable, StorageUnusable } from "../errors.ts";
import type { Migration } from "../migrations/migration.ts";
import { digestOf, STEPS_TABLE, unreleasedSchema, versionOf } from "../migrations/taken-steps.ts";
import { migrations as allMigrations } from "../migrations.ts";
import { accessFault } from "./access.ts";
import { createStore, emptyStore, requireContents } from "./creation.ts";
import { requireNotMoved } from "./moved-mark.ts";
import { describeShops } from "./statistics.ts";

/** Older releases of SQLite can corrupt a database in WAL mode. */
const OLDEST_SQLITE = "3.51.3";
/** Pages of the file kept in memory, in KiB. Without room for those in use, most reads cost a system call. */
const CACHE_SIZE = 8_192;
/** Marks the file as ours (`PRAGMA application_id`): "PETS" in ASCII. */
export const APPLICATION_ID = 0x50455453;

const createStepsTable = `CREATE TABLE ${STEPS_TABLE} (step INTEGER PRIMARY KEY, digest TEXT NOT NULL) STRICT`;

/**
 * Opens the store for work: creates the file and its folder where they are missing, and brings the
 * schema up to date. `busyTimeout` is how long each statement waits for a lock of another process, in
 * milliseconds; it blocks the thread: keep it short in a server. Throws `StorageUnusable` with a
 * reason for the operator.
 */
export function openDatabase(
  file: string,
  busyTimeout: number,
  migrations: readonly Migration[] = allMigrations,
): Database {
  return open(file, { busyTimeout, create: () => contentsOfNew(migrations) }, prepareForWork(file, migrations));
}

/** A store that nothing was done with yet, in memory. */
export function newDatabase(migrations: readonly Migration[] = allMigrations): Database {
  const database = new Database(":memory:", { strict: true, safeIntegers: true });
  migrate(database, ":memory:", migrations);
  return database;
}

function contentsOfNew(migrations: readonly Migration[]): Uint8Array {
  const database = newDatabase(migrations);
  try {
    const contents = database.serialize();
    // "File format version numbers" of SQLite's database header: with a write-ahead log from the first opening on, so
    // that processes which open it at once need not wait for the one that would say so.
    contents.set([2, 2], 18);
    return contents;
  } finally {
    database.close();
  }
}

/**
 * The same with a store that exists and that nobody else has open, nor can open until it is closed.
 * Throws `StorageUnusable`.
 */
export function openExclusive(file: string, migrations: readonly Migration[] = allMigrations): Database {
  requireStore(file);
  return open(file, { busyTimeout: 0, isExclusive: true }, prepareForWork(file, migrations));
}

function prepareForWork(file: string, migrations: readonly Migration[]) {
  return (database: Database) => {
    database.run("PRAGMA journal_mode = WAL");
    database.run("PRAGMA synchronous = FULL"); // an acknowledged commit is on disk, not only in a cache
    database.run("PRAGMA wal_autocheckpoint = 0"); // checkpoints.ts does it
    database.run("PRAGMA secure_delete = ON"); // what is deleted is overwritten with zeros
    database.run("PRAGMA foreign_keys = ON");
    database.run(`PRAGMA cache_size = -${CACHE_SIZE}`); // negative: KiB, not pages
    migrate(database, file, migrations);
    requireWritable(database, migrations.length);
  };
}

/** Opens an existing store as it is, whatever its schema. Throws `StorageUnusable`. */
export function openWithoutMigrating(file: string): Database {
  requireStore(file);
  return open(file, { busyTimeout: 5_000 }, () => {});
}

/**
 * Throws `StorageUnusable` where another process has the store in `file` open. One that is missing or damaged is in
 * nobody's use.
 */
export function requireNotInUse(file: string): void {
  try {
    if (existsSync(file)) open(file, { busyTimeout: 0, isExclusive: true }, lockOnce).close();
  } catch (error) {
    if (sqliteCode((error as Error).cause).startsWith("SQLITE_BUSY")) throw storeInUse(file, error);
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
  /** Returns the bytes of a new store, for where there is none. */
  readonly create?: () => Uint8Array;
  readonly isExclusive?: boolean;
}

function open(file: string, options: FileOptions, prepare: (database: Database) => void): Database {
  const { busyTimeout, create, isExclusive = false } = options;
  let database: Database | undefined;
  try {
    requireNotMoved(file);
    if (create) createStore(file, create);
    requireContents(file);
    database = new Database(file, { create: false, readwrite: true, strict: true, safeIntegers: true });
    database.run(`PRAGMA busy_timeout = ${busyTimeout}`); // first: any other statement can meet a lock
    if (isExclusive) database.run("PRAGMA locking_mode = EXCLUSIVE"); // before the file is touched, else it takes no lock
    requireRecentSqlite(database);
    requireOwnFile(database, file);
    requireNotMoved(file); // once more: from here on, no other process can have it alone, to move it
    prepare(database);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof StorageUnusable) throw error;
    const isBusy = sqliteCode(error).startsWith("SQLITE_BUSY");
    const reason = `The store at ${file} cannot be opened: ${(error as Error).message}.`;
    throw new StorageUnusable((isBusy ? undefined : accessFault(file)) ?? reason, { cause: error });
  }
}

/** The error of the port for an error of SQLite. */
export function asStorageError(error: unknown): unknown {
  return sqliteCode(error) ? new StorageUnavailable((error as Error).message, { cause: error }) : error;
}

/** SQLite's name for an error (`SQLITE_FULL`), or an empty text for errors that are not SQLite's. */
export function sqliteCode(error: unknown): string {
  const code = error instanceof Error && error.name === "SQLiteError" ? (error as { code?: unknown }).code : "";
  return typeof code === "string" ? code : "";
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
  if (readNumber(database, "SELECT count(*) FROM sqlite_schema") === 0) throw emptyStore(file);
  if (readNumber(database, "PRAGMA application_id") !== APPLICATION_ID) {
    throw new StorageUnusable(`${file} is a database of another program.`);
  }
}

function migrate(database: Database, file: string, migrations: readonly Migration[]): void {
  if (schemaVersion(database, file, migrations) === migrations.length) return;
  // IMMEDIATE: of several processes that start at once, one migrates and the others wait.
  database
    .transaction(() => {
      const version = schemaVersion(database, file, migrations);
      if (version === 0) database.run(createStepsTable);
      for (const migration of migrations.slice(version)) {
        database.run(migration.sqlite);
        database.run(`INSERT INTO ${STEPS_TABLE} (digest) VALUES (?1)`, [digestOf(migration)]);
      }
      describeShops(database);
      database.run(`PRAGMA application_id = ${APPLICATION_ID}`);
      database.run(`PRAGMA user_version = ${migrations.length}`);
    })
    .immediate();
}

/** SQLite opens a file that it may not write all the same, to read it, and even gives it a write lock. */
function requireWritable(database: Database, version: number): void {
  database.run("BEGIN IMMEDIATE");
  database.run(`PRAGMA user_version = ${version}`);
  database.run("ROLLBACK");
}

/** Also kept as `user_version`, which a process that serves can read faster. */
export function schemaVersion(database: Database, file: string, migrations: readonly Migration[]): number {
  const version = readNumber(database, "PRAGMA user_version");
  if (version === 0) return 0;
  if (!database.query("SELECT 1 FROM sqlite_schema WHERE name = ?1").get(STEPS_TABLE)) throw unreleasedSchema(file);
  const steps = database.query<{ digest: string }, []>(`SELECT digest FROM ${STEPS_TABLE} ORDER BY step`).all();
  return versionOf(
    steps.map(({ digest }) => digest),
    migrations,
    file,
  );
}
