import { constants, Database } from "bun:sqlite";
import { statSync } from "node:fs";
import type { Migration } from "../applied-migrations.ts";
import { readEnvironment } from "../environment.ts";
import { StorageUnusable } from "../errors.ts";
import { requireUnchanged } from "./backup-checksum.ts";
import { requireOwnFile, schemaVersion } from "./database.ts";
import { realStoreFile } from "./store-files.ts";

/** The contents of a verified store. */
export interface Contents {
  /** The number of applied migrations. */
  readonly schema: number;
  /** The number of rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Undefined if the store has no environment yet. */
  readonly belongsToProduction: boolean | undefined;
}

/** Verifies a backup: that it is as it was written, and what `verifySqlite` does. */
export function verifyBackup(file: string, migrations: readonly Migration[]): Contents {
  const contents = verifySqlite(file, migrations); // first: its messages say more
  requireUnchanged(file);
  return contents;
}

/**
 * Verifies every page and index of a store that is not in use, such as a backup. Throws `StorageUnusable` if it is
 * damaged, or belongs to another program or a newer release. It writes nothing.
 */
export function verifySqlite(file: string, migrations: readonly Migration[]): Contents {
  let database: Database | undefined;
  try {
    requireFile(file);
    database = openWithoutLog(file);
    requireOwnFile(database, file);
    const schema = schemaVersion(database, file, migrations);
    const faults = [
      ...column(database, "PRAGMA integrity_check").filter((text) => text !== "ok"),
      ...column(database, "PRAGMA foreign_key_check").map((table) => `a row of ${table} refers to one that is missing`),
    ];
    if (faults.length > 0) throw new StorageUnusable(`${file} is damaged: ${faults[0]}.`);
    const tables = column(database, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
    const rows = tables.map((name) => [name, Number(column(database as Database, `SELECT count(*) FROM ${name}`)[0])]);
    const [environment] = column(database, readEnvironment.sql);
    return {
      schema,
      rows: Object.fromEntries(rows) as Record<string, number>,
      belongsToProduction: environment === undefined ? undefined : environment === "production",
    };
  } catch (error) {
    if (error instanceof StorageUnusable) throw error;
    throw new StorageUnusable(`${file} cannot be read as a store: ${(error as Error).message}.`, { cause: error });
  } finally {
    database?.close();
  }
}

/** Throws `StorageUnusable` for what cannot be a backup. */
function requireFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) throw new StorageUnusable(`There is no file ${file}.`);
  if (found.isDirectory()) throw new StorageUnusable(`${file} is a folder. Name a backup in it.`);
  if (!found.isFile()) throw new StorageUnusable(`${file} is not a file.`);
  const log = `${realStoreFile(file)}-wal`;
  const hasLog = (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (!hasLog) return;
  throw new StorageUnusable(
    `${file} has a log, ${log}, with changes that are not in the file: it is a store that was copied, or one in ` +
      "use. Make a backup of it with `petstore backups take`.",
  );
}

/** Opens a file that no other process uses. `immutable` keeps SQLite from creating a log next to it. */
function openWithoutLog(file: string): Database {
  const address = `file:${encodeURI(file).replaceAll(/[?#]/g, encodeURIComponent)}?immutable=1`;
  return new Database(address, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
}

/** The first column of a query's rows, as strings. */
function column(database: Database, sql: string): string[] {
  return database
    .query<Record<string, unknown>, []>(sql)
    .all()
    .map((row) => String(Object.values(row)[0]));
}
