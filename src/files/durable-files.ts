// How a file appears under its name only when it is complete: write it under another name, sync it, then name it.
import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, resolve } from "node:path";

/** Errors of file systems that have no hard links, or no room for another one. */
const noLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** The name of a file until it is complete. It has no process id: processes in two containers can have the same one. */
export function unfinishedName(path: string): string {
  return `${path}.unfinished-${randomUUID()}`;
}

/** Gives a complete file its name, and returns true. If the name exists, returns false and changes nothing. */
export function nameIfFree(unfinished: string, name: string): boolean {
  try {
    linkSync(unfinished, name); // renaming would replace a file that was created in the meantime
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (!noLinks.has(code)) throw error;
    if (lstatSync(name, { throwIfNoEntry: false })) return false; // a link whose target is missing is there too
    renameSync(unfinished, name);
  }
  sync(dirname(name));
  return true;
}

/** Creates a file, unless its name exists. Throws file system errors. */
export function createIfFree(file: string, content: string | Uint8Array, mode?: number): void {
  const unfinished = unfinishedName(file);
  try {
    writeFileSync(unfinished, content, { flag: "wx", mode });
    sync(unfinished);
    nameIfFree(unfinished, file);
  } finally {
    if (existsSync(unfinished)) rmSync(unfinished);
  }
}

/** Syncs a file, or the entries of a folder, to disk. */
export function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The folder, or the nearest one above it that exists and that this process can see. */
export function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}

/**
 * Creates a folder and its missing parents, accessible only by their owner, and syncs their entries. Otherwise a power
 * failure could remove the folder together with files that were synced in it.
 */
export function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = resolve(folder); made.length >= resolve(first).length; made = dirname(made)) sync(dirname(made));
}

/** What a link leads to; undefined for a path that is no link. */
export function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // it is no link
  }
}
