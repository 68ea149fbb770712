import { existsSync, readFileSync } from "node:fs";
import { asFileError } from "./new-file.ts";
import { createIfFree } from "./unfinished-file.ts";

/**
 * Reads a file that only its owner may read, and creates it if it does not exist. It appears under its name only when
 * it is complete and on disk, so a crash leaves no partial file. If several processes create it at the same time, one
 * succeeds, and all return its text. Throws `FileError`, or an error of `create`.
 */
export function readOrCreate(file: string, create: () => string): string {
  try {
    if (!existsSync(file)) createIfFree(file, create(), 0o600);
    return readFileSync(file, "utf8");
  } catch (error) {
    throw asFileError(error, file);
  }
}
