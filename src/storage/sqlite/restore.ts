import { chmodSync, copyFileSync, existsSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeFolder, sync, unfinishedName } from "../../files/durable-files.ts";
import type { Migration } from "../applied-migrations.ts";
import { StorageUnusable } from "../errors.ts";
import { endGeneration } from "../generation.ts";
import { openWithoutMigrating } from "./database.ts";
import { markOf } from "./moved-mark.ts";
import { type Contents, verifyBackup, verifySqlite } from "./verify.ts";

export interface Restored {
  readonly contents: Contents;
  /** The new path of the previous store; undefined if there was none. */
  readonly replaced: string | undefined;
}

interface RestoreOptions {
  readonly migrations: readonly Migration[];
  readonly now: Date;
  /** Throws an error to refuse a backup. */
  readonly accept: (contents: Contents) => void;
}

/**
 * Replaces the store in `file` with a copy of a backup, which gets a new generation. The store must not be in use. The
 * previous store is renamed, together with its write-ahead log: SQLite would apply an old log to the copy and damage it.
 * A crash leaves the old store, the new one, or neither under the name `file`; in the last case both exist under other
 * names, and the restore can be repeated. Throws `StorageUnusable`; then no
 * store was deleted, only copies of killed restores, but the previous store may have its new name.
 */
export function restoreSqlite(backup: string, file: string, options: RestoreOptions): Restored {
  const { migrations, now, accept } = options;
  const contents = verifyBackup(backup, migrations);
  accept(contents);
  const unfinished = unfinishedName(file);
  const aside = `${file}.replaced-${now.toISOString().replaceAll(/[:.]/g, "-")}`;
  try {
    makeFolder(dirname(file));
    deleteUnfinished(file, realpathSync(backup));
    copyFileSync(backup, unfinished);
    chmodSync(unfinished, 0o600);
    const database = openWithoutMigrating(unfinished);
    database.run(endGeneration.sql);
    database.close();
    sync(unfinished);
    verifySqlite(unfinished, migrations);
    const replaced = setAside(file, aside);
    renameSync(unfinished, file);
    sync(dirname(file));
    return { contents, replaced: replaced ? aside : undefined };
  } catch (error) {
    if (existsSync(unfinished)) rmSync(unfinished);
    if (error instanceof StorageUnusable) throw error;
    const where = existsSync(aside) ? ` The previous store is now ${aside}.` : "";
    throw new StorageUnusable(`${backup} cannot be restored: ${(error as Error).message}.${where}`, { cause: error });
  }
}

/** Deletes the copies of killed restores, each as large as a store, except the one that is being restored. */
function deleteUnfinished(file: string, restored: string): void {
  const folder = dirname(file);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (name.startsWith(`${basename(file)}.unfinished-`) && realpathSync(path) !== restored) rmSync(path);
  }
}

/**
 * Renames all files of a store, the database first: a service refuses to start with a log but no database. Returns
 * false if there are none.
 */
function setAside(file: string, aside: string): boolean {
  const parts = ["", "-wal", "-shm"].filter((part) => existsSync(file + part));
  for (const part of parts) renameSync(file + part, aside + part);
  rmSync(markOf(file), { force: true }); // the restored store was not moved
  sync(dirname(file));
  return parts.length > 0;
}
