import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { StorageUnusable } from "../errors.ts";
import { sync } from "./disk.ts";

/** Where it is said that a store was moved away, and where to. Deleting it undoes that. */
export function markOf(file: string): string {
  return `${file}.moved`;
}

/** Notes that the store in `file` was moved to a place, which must not have a password in it. Throws errors of the file system. */
export function markMoved(file: string, to: string): void {
  const mark = markOf(file);
  const unfinished = `${mark}.unfinished`;
  writeFileSync(unfinished, `${to} on ${new Date().toISOString()}\n`);
  sync(unfinished);
  renameSync(unfinished, mark);
  sync(dirname(mark));
}

/** Throws `StorageUnusable` where the store in `file` was moved away. */
export function requireNotMoved(file: string): void {
  if (!existsSync(markOf(file))) return;
  const moved = readFileSync(markOf(file), "utf8").trim();
  throw new StorageUnusable(
    `The store at ${file} was moved to ${moved}. Set PETSTORE_DATABASE_URL to that database. What was written there ` +
      `since then is not in this folder; to use it all the same, delete ${markOf(file)}.`,
  );
}
