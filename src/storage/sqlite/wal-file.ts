import { closeSync, fdatasync, fdatasyncSync, openSync, realpathSync } from "node:fs";

/**
 * The write-ahead log of an open database, to sync it on another thread: the thread that serves goes
 * on meanwhile.
 *
 * With `synchronous = NORMAL` SQLite writes a commit to the log and leaves the sync to us; the syncs
 * that keep the file from being damaged, those around a checkpoint, it still makes itself.
 */
export class WalFile {
  readonly #descriptor: number;

  /** `file` is the database, which must be open in WAL mode. Closing it drops no lock of SQLite's. */
  constructor(file: string) {
    this.#descriptor = openSync(`${realpathSync(file)}-wal`, "r+");
  }

  /** Calls back when all that was committed before the call is on disk, or with the reason why it may not be. */
  sync(done: (error: Error | null) => void): void {
    fdatasync(this.#descriptor, done);
  }

  /** The same on this thread, which does nothing else meanwhile. Throws the reason. */
  syncHere(): void {
    fdatasyncSync(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
