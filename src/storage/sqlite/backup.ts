import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { StorageUnusable } from "../errors.ts";
import { openWithoutMigrating } from "./database.ts";
import { sync } from "./disk.ts";

/**
 * Writes a consistent copy of the store in `file` to `target`, even while a service uses the store. The copy
 * gets its name only when it is complete and on disk. Throws `StorageUnusable`.
 */
export function backupSqlite(file: string, target: string): void {
  if (existsSync(target)) throw new StorageUnusable(`${target} exists already; a backup overwrites nothing.`);
  if (!existsSync(dirname(target))) throw new StorageUnusable(`The folder ${dirname(target)} does not exist.`);
  const database = openWithoutMigrating(file);
  const unfinished = `${target}.unfinished-${process.pid}`;
  try {
    database.query("VACUUM INTO $1").run(unfinished);
    sync(unfinished);
    renameSync(unfinished, target);
    sync(dirname(target));
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw new StorageUnusable(`The backup to ${target} failed: ${(error as Error).message}.`, { cause: error });
  } finally {
    database.close();
  }
}
