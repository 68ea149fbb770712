import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { createIfFree, makeFolder } from "../../files/durable-files.ts";
import { StorageUnusable } from "../errors.ts";

/**
 * Creates a store in `file`, and its folder, unless it exists. `bytes` returns its content. The file gets its name only
 * when it is complete and on disk, so a crash leaves no partial store. If several processes create it at once, one
 * succeeds and the others use its file. Throws `StorageUnusable`, or file system errors.
 */
export function createStore(file: string, bytes: () => Uint8Array): void {
  if (existsSync(file)) return;
  makeFolder(dirname(file));
  const log = `${file}-wal`;
  // Check the log first: a process that creates the store creates the file before the log.
  if (existsSync(log) && !existsSync(file)) {
    throw new StorageUnusable(
      `${file} is missing, but its log ${log} exists and may hold acknowledged changes. Put the file back. If it is ` +
        "lost, move the log away and restore a backup. To start with an empty store, move the log away.",
    );
  }
  createIfFree(file, bytes());
}

/** Throws `StorageUnusable` if the file exists but is empty. SQLite would treat it as a new database. */
export function requireNotEmpty(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() && found.size === 0) throw emptyFile(file);
}

export function emptyFile(file: string): StorageUnusable {
  return new StorageUnusable(
    `${file} is empty. No release leaves an empty store: its content is lost, or it was never a store. Put a backup in ` +
      `its place. To start with a new store, move it elsewhere, with ${file}-wal and ${file}-shm if they are there.`,
  );
}
