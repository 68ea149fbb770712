import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { createIfFree, linkTarget, nameIfFree, sync, unfinishedName } from "./durable-files.ts";

/** A file that cannot be read or written, in words for the person at the terminal. */
export class FileError extends Error {
  override readonly name = "FileError";
}

/**
 * Writes a file that appears under its name only when it is complete and on disk. An existing file is
 * an error, or is replaced atomically. A link to an existing file is followed. Returns the size in bytes. Rejects with
 * `FileError`, or with an error of `pieces`, and then leaves no new file, unless only the sync of the folder failed.
 */
export async function writeNewFile(name: string, pieces: AsyncIterable<string>, mayReplace: boolean): Promise<number> {
  const path = pathOf(name);
  const isThere = existsSync(path);
  if (isThere && !mayReplace) throw alreadyExists(name);
  if (isThere && !statSync(path).isFile()) throw new FileError(`${path} is not a file that can be replaced.`);
  const unfinished = unfinishedName(path);
  try {
    const bytes = await writePieces(await open(unfinished, "wx", 0o600), pieces);
    if (mayReplace) {
      await rename(unfinished, path);
      sync(dirname(path));
    } else if (!nameIfFree(unfinished, path)) throw alreadyExists(path);
    return bytes;
  } catch (error) {
    throw asFileError(error, path);
  } finally {
    if (existsSync(unfinished)) await rm(unfinished); // `force` fails for a missing file on a read-only file system
  }
}

/** The path of the file that a name leads to, by links or directly. */
function pathOf(name: string): string {
  const folder = dirname(name);
  if (!existsSync(folder)) throw new FileError(`The folder ${folder} does not exist.`);
  if (existsSync(name)) return realpathSync(name);
  // In a folder that others can write to, their link would choose where the new file appears.
  if (linkTarget(name) !== undefined) throw new FileError(`${name} is a link to a file that does not exist.`);
  return name;
}

async function writePieces(file: FileHandle, pieces: AsyncIterable<string>): Promise<number> {
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      await file.writeFile(piece);
      bytes += Buffer.byteLength(piece);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return bytes;
}

const noRoom = "There is no room for FILE.";

/** The errors of file systems, in words. */
const meanings: Readonly<Record<string, string>> = {
  EEXIST: "FILE exists already.",
  ENOSPC: noRoom,
  EDQUOT: noRoom,
  EFBIG: noRoom,
  ENOENT: "FILE does not exist.",
  EISDIR: "FILE is a folder.",
  EACCES: "FILE may not be used by this user.",
  EROFS: "FILE is on a file system that is mounted read-only.",
  EPIPE: "Nobody reads FILE any more.",
};

/** The error of a file system in words; any other as it is. */
export function asFileError(error: unknown, path: string): unknown {
  const { code, syscall, message } = (error ?? {}) as NodeJS.ErrnoException;
  if (typeof code !== "string" || syscall === undefined) return error;
  const meaning = meanings[code] ?? `FILE failed: ${message}.`;
  return new FileError(
    meaning.replace("FILE", () => path),
    { cause: error },
  );
}

function alreadyExists(path: string): FileError {
  return new FileError(`${path} exists already. The option --force replaces it.`);
}

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
