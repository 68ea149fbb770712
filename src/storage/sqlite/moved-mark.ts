import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { sync } from "../../files/durable-files.ts";
import { StorageUnusable } from "../errors.ts";

/** The file that marks a store as moved and names its new location. Deleting it removes the mark. */
export function markOf(file: string): string {
  return `${file}.moved`;
}

/** Marks the store in `file` as moved. `to` must not contain a password. Throws file system errors. */
export function markMoved(file: string, to: string): void {
  const mark = markOf(file);
  const unfinished = `${mark}.unfinished`;
  writeFileSync(unfinished, `${to} on ${new Date().toISOString()}\n`);
  sync(unfinished);
  renameSync(unfinished, mark);
  sync(dirname(mark));
}

/** Throws `StorageUnusable` if the store in `file` is marked as moved. */
export function requireNotMoved(file: string): void {
  if (!existsSync(markOf(file))) return;
  const moved = readFileSync(markOf(file), "utf8").trim();
  throw new StorageUnusable(
    `The store at ${file} was moved to ${moved}. Set PETSTORE_DATABASE_URL to that database. What was written there ` +
      `since then is not in this folder; to use this folder all the same, delete ${markOf(file)}.`,
  );
}
