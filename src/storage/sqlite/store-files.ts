import { lstatSync, realpathSync, statSync } from "node:fs";
import { StorageUnavailable } from "../errors.ts";

/** The files of the open store were moved, replaced or deleted. */
export class StoreFilesGone extends StorageUnavailable {}

/**
 * The file of a store, or the one that a link in its place leads to. SQLite puts its log next to the real file, so the
 * other files of the store are there too, whichever link names it. A link that leads nowhere is returned as it is.
 */
export function realStoreFile(file: string): string {
  try {
    return lstatSync(file).isSymbolicLink() ? realpathSync(file) : file;
  } catch {
    return file; // opening it reports the reason
  }
}

interface OpenFile {
  readonly path: string;
  readonly device: number;
  readonly inode: number;
}

/**
 * The files of an open store. SQLite continues to write to files that were moved, replaced or deleted. The next start
 * would not find those acknowledged writes.
 */
export class StoreFiles {
  readonly #files: readonly OpenFile[];

  /** Remembers the current files. The store must be open. `givenPath` is its file, or a link to it. */
  constructor(givenPath: string) {
    const real = realpathSync(givenPath); // SQLite puts the other files next to it
    this.#files = [givenPath, `${real}-wal`, `${real}-shm`].map((path) => {
      const { dev, ino } = statSync(path);
      return { path, device: dev, inode: ino };
    });
  }

  areInPlace(): boolean {
    return this.#files.every(isInPlace);
  }
}

function isInPlace({ path, device, inode }: OpenFile): boolean {
  try {
    const { dev, ino } = statSync(path);
    return dev === device && ino === inode;
  } catch {
    return false;
  }
}
