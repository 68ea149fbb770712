import { existsSync, linkSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { StorageUnusable } from "../errors.ts";
import { makeFolder, sync } from "./disk.ts";

/**
 * Makes a store in `file`, and the folder for it, where there is none: it appears under its name whole and on disk, so
 * that a crash leaves none that is half made. `contents` gives its bytes. Of several processes that make it, one does
 * and the others take that one. Throws `StorageUnusable`, or errors of the file system.
 */
export function createStore(file: string, contents: () => Uint8Array): void {
  if (existsSync(file)) return;
  makeFolder(dirname(file));
  const log = `${file}-wal`;
  // In this order: the process that creates the store puts it in place before its log.
  if (existsSync(log) && !existsSync(file)) {
    throw new StorageUnusable(
      `${file} is missing, but its log ${log} is there, and can hold what was acknowledged. Put the file back, or a ` +
        "backup in its place and the log elsewhere. To start with a new store, move the log elsewhere.",
    );
  }
  const unfinished = `${file}.new-${process.pid}`;
  try {
    writeFileSync(unfinished, contents());
    sync(unfinished);
    link(unfinished, file);
    sync(dirname(file));
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Gives a file a second name, unless that is taken. */
function link(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    // Some file systems have no second names.
    if (!/^(EPERM|ENOSYS|ENOTSUP|EOPNOTSUPP|EMLINK)$/.test(code ?? "")) throw error;
    if (!existsSync(to)) renameSync(from, to);
  }
}

/** Throws `StorageUnusable` where the file is there, but has nothing in it: SQLite would take it for a new database. */
export function requireContents(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() && found.size === 0) throw emptyStore(file);
}

export function emptyStore(file: string): StorageUnusable {
  return new StorageUnusable(
    `${file} is empty. No release leaves its store so: what was in it is lost, or it was never one. Put a backup in ` +
      `its place. To start with a new store, move it elsewhere, with ${file}-wal and ${file}-shm if they are there.`,
  );
}
