import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { asFileError, hasNoLinks, unfinishedName } from "./new-file.ts";

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
    inFile(unfinished, "wx", (descriptor) => writeFileSync(descriptor, text));
    linkOrKeepExisting(unfinished, file);
    inFile(dirname(file), "r", () => {});
  } finally {
    if (existsSync(unfinished)) rmSync(unfinished);
  }
}

/** Opens a file or a folder, and closes it when what was done with it is on disk. */
function inFile(path: string, flags: string, work: (descriptor: number) => void): void {
  const descriptor = openSync(path, flags, 0o600);
  try {
    work(descriptor);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Gives a file a name, unless another process has created a file of this name: that one stays. */
function linkOrKeepExisting(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (existsSync(to)) return;
    if (!hasNoLinks(error)) throw error;
    renameSync(from, to);
  }
}
