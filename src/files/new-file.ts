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

/** The error of a file system in words; any other as it is. */
export function asFileError(error: unknown, path: string): unknown {
  switch (codeOf(error)) {
    case "":
      return error;
    case "EEXIST":
      return alreadyExists(path);
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return new FileError(`There is no room for ${path}.`, { cause: error });
    case "ENOENT":
      return new FileError(`${path} does not exist.`, { cause: error });
    case "EISDIR":
      return new FileError(`${path} is a folder.`, { cause: error });
    case "EACCES":
      return new FileError(`${path} may not be used by this user.`, { cause: error });
    case "EROFS":
      return new FileError(`${path} is on a file system that is mounted read-only.`, { cause: error });
    case "EPIPE":
      return new FileError(`Nobody reads ${path} any more.`, { cause: error });
    default:
      return new FileError(`${path} failed: ${(error as Error).message}.`, { cause: error });
  }
}

function alreadyExists(path: string): FileError {
  return new FileError(`${path} exists already.`);
}

/** The system's name for an error (`ENOENT`); empty for errors of another kind. */
function codeOf(error: unknown): string {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  return typeof code === "string" && syscall !== undefined ? code : "";
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
