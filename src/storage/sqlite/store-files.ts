import { realpathSync, statSync } from "node:fs";
import { StorageUnavailable } from "../errors.ts";

/** The files of the open store are no longer where they were. */
export class StoreMoved extends StorageUnavailable {}

interface OpenFile {
  readonly path: string;
  readonly device: number;
  readonly inode: number;
}

/**
 * The files of an open store. A process can continue writing to a file that was moved, replaced or
 * deleted, and SQLite does: what is acknowledged then is not in the store that the next start opens.
 */
export class StoreFiles {
  readonly #files: readonly OpenFile[];

  /** Takes the files that are there now for those of the store, which must be open. */
  constructor(file: string) {
    const real = realpathSync(file); // next to it SQLite has the others
    this.#files = [file, `${real}-wal`, `${real}-shm`].map((path) => {
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
