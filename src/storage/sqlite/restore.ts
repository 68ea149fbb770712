import { chmodSync, copyFileSync, existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { StorageUnusable } from "../errors.ts";
import { makeFolder, sync } from "./disk.ts";
import { markOf } from "./moved-mark.ts";
import { type Contents, verifySqlite } from "./verified.ts";

/** What was restored. */
export interface Restored {
  readonly contents: Contents;
  /** Where the store is now that was in the place before; undefined where there was none. */
  readonly replaced: string | undefined;
}

/**
 * Puts a copy of a backup in the place of the store in `file`, which nobody may use meanwhile. What is there is kept
 * under another name, with its write-ahead log: SQLite would apply a log that is left behind to the copy, and damage
 * it. A crash leaves the old store, the new one, or neither with both beside; then the restore can be repeated. Throws
 * `StorageUnusable`; nothing was replaced then.
 */
export function restoreSqlite(backup: string, file: string, now: Date): Restored {
  const contents = verifySqlite(backup);
  const unfinished = `${file}.restored-${process.pid}`;
  try {
    makeFolder(dirname(file));
    copyFileSync(backup, unfinished);
    chmodSync(unfinished, 0o600);
    sync(unfinished);
    verifySqlite(unfinished);
    const replaced = setAside(file, now);
    renameSync(unfinished, file);
    sync(dirname(file));
    return { contents, replaced };
  } catch (error) {
    rmSync(unfinished, { force: true });
    if (error instanceof StorageUnusable) throw error;
    throw new StorageUnusable(`${backup} cannot be restored: ${(error as Error).message}.`, { cause: error });
  }
}

/** Renames all files of a store. The database first: a start between the steps refuses a log without its database. */
function setAside(file: string, now: Date): string | undefined {
  const aside = `${file}.replaced-${now.toISOString().replaceAll(/[:.]/g, "-")}`;
  const parts = ["", "-wal", "-shm"].filter((part) => existsSync(file + part));
  for (const part of parts) renameSync(file + part, aside + part);
  rmSync(markOf(file), { force: true }); // the store that is restored was not moved
  sync(dirname(file));
  return parts.length > 0 ? aside : undefined;
}
