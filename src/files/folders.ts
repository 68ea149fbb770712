import { existsSync, mkdirSync, readlinkSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { sync } from "./unfinished-file.ts";

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
