import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { asFileError } from "./new-file.ts";
import { nameIfFree, sync, unfinishedName } from "./unfinished-file.ts";

/**
 * Reads a file that only its owner may read, and creates it if it does not exist. It appears under its name only when
 * it is complete and on disk, so a crash leaves no partial file. If several processes create it at the same time, one
 * succeeds, and all return its text. Throws `FileError`, or an error of `create`.
 */
export function readOrCreate(file: string, create: () => string): string {
  try {
    if (!existsSync(file)) createFile(file, create());
    return readFileSync(file, "utf8");
  } catch (error) {
    throw asFileError(error, file);
  }
}

function createFile(file: string, text: string): void {
  const unfinished = unfinishedName(file);
  try {
    writeFileSync(unfinished, text, { flag: "wx", mode: 0o600 });
    sync(unfinished);
    nameIfFree(unfinished, file); // if another process was first, its file stays
  } finally {
    if (existsSync(unfinished)) rmSync(unfinished);
  }
}
