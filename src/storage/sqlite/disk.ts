import { randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, renameSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Syncs a file, or the entries of a folder, to disk. */
export function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The name of a file until it is complete. It has no process id: processes in two containers can have the same one. */
export function unfinishedName(path: string): string {
  return `${path}.unfinished-${randomUUID()}`;
}

/** Gives a complete file its name, and returns true. If the name exists, returns false and changes nothing. */
export function nameIfFree(unfinished: string, name: string): boolean {
  try {
    linkSync(unfinished, name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    // Some file systems have no hard links.
    if (!/^(EPERM|ENOSYS|ENOTSUP|EOPNOTSUPP|EMLINK)$/.test(code ?? "")) throw error;
    if (existsSync(name)) return false;
    renameSync(unfinished, name);
  }
  sync(dirname(name));
  return true;
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
