import { closeSync, fdatasync, fdatasyncSync, openSync, realpathSync } from "node:fs";

/**
 * The write-ahead log of an open database. Syncing it on another thread lets this thread continue to serve requests.
 *
 * With `synchronous = NORMAL`, SQLite writes commits to the log without a sync. It still makes the syncs around a
 * checkpoint, which protect the database file from damage.
 */
export class WalFile {
  readonly #descriptor: number;

  /** `file` is the database, which must be open in WAL mode. Closing the log file releases none of SQLite's locks. */
  constructor(file: string) {
    this.#descriptor = openSync(`${realpathSync(file)}-wal`, "r+");
  }

  /** Calls back when everything committed before the call is on disk, or with an error. */
  sync(done: (error: Error | null) => void): void {
    fdatasync(this.#descriptor, done);
  }

  /** Like `sync`, but blocks this thread. Throws the error. */
  syncHere(): void {
    fdatasyncSync(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
