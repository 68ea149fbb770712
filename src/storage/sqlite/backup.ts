import { existsSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { nameIfFree, sync, unfinishedName } from "../../files/durable-files.ts";
import { roomFault } from "../../files/room.ts";
import type { Migration } from "../applied-migrations.ts";
import { StorageUnusable } from "../errors.ts";
import { checksumOf, noteChecksum } from "./backup-checksum.ts";
import { openWithoutMigrating } from "./database.ts";
import { type Contents, verifySqlite } from "./verify.ts";

/**
 * Writes a consistent copy of the store in `file` to `target`, even while a service uses the store. The copy
 * gets its name only when it is complete, on disk and verified. Throws `StorageUnusable`.
 */
export function backupSqlite(file: string, target: string, migrations: readonly Migration[]): Contents {
  if (existsSync(target)) throw alreadyExists(target);
  if (!existsSync(dirname(target))) throw new StorageUnusable(`The folder ${dirname(target)} does not exist.`);
  const database = openWithoutMigrating(file);
  const unfinished = unfinishedName(target);
  try {
    database.query("VACUUM INTO $1").run(unfinished);
    sync(unfinished);
    const contents = verifySqlite(unfinished, migrations);
    const checksum = checksumOf(unfinished);
    if (nameIfFree(unfinished, target)) {
      noteChecksum(target, checksum); // not before: another backup may get the name
      return contents;
    }
  } catch (error) {
    const reason = roomFault(dirname(target)) ?? (error as Error).message.replace(/\.$/, "");
    throw new StorageUnusable(`The backup to ${target} failed: ${reason}.`, { cause: error });
  } finally {
    database.close();
    if (existsSync(unfinished)) rmSync(unfinished);
  }
  throw alreadyExists(target);
}

function alreadyExists(target: string): StorageUnusable {
  return new StorageUnusable(`${target} exists already; a backup overwrites nothing.`);
}
