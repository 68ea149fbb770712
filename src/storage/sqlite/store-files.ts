import { closeSync, existsSync, fdatasync, fdatasyncSync, lstatSync, openSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { createIfFree, makeFolder } from "../../files/durable-files.ts";
import { StorageUnavailable, StorageUnusable } from "../errors.ts";
import type { EngineSql } from "../statement.ts";
import type { Connection } from "./connection.ts";

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

/** A write-ahead log of this many pages (about 4 MB) is checkpointed. SQLite's default is the same. */
const CHECKPOINT_PAGES = 1_000;
/** The wait after an incomplete checkpoint, in milliseconds. */
const PAUSE = 1_000;

const measure: EngineSql = { sql: "PRAGMA wal_checkpoint(NOOP)" };
const copy: EngineSql = { sql: "PRAGMA wal_checkpoint(PASSIVE)" };
const copyAll: EngineSql = { sql: "PRAGMA wal_checkpoint(TRUNCATE)" };

export interface CheckpointOptions {
  readonly connection: Connection;
  /** Ends the read transaction. Called before each checkpoint, which needs a connection without a transaction. */
  readonly endRead: () => void;
  /** Called with each error that SQLite throws. */
  readonly failed: (error: unknown) => void;
}

/**
 * Copies the write-ahead log into the database file when the log gets long. SQLite's automatic checkpoints do
 * not report failures. A failed sync must be reported, because it must not be retried: the retry can succeed
 * although the first sync lost data.
 */
export class Checkpoints {
  readonly #options: CheckpointOptions;
  #isDue = false;
  #isStopped = false;
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(options: CheckpointOptions) {
    this.#options = options;
  }

  /** Call it after each commit, outside a transaction. */
  committed(): void {
    if (this.#isDue || performance.now() < this.#notBefore) return;
    const { log = 0n } = this.#query(measure) ?? {};
    if (Number(log) < CHECKPOINT_PAGES) return;
    this.#isDue = true;
    setImmediate(() => this.#run()); // answer clients that wait for the commit first
  }

  /**
   * Runs a checkpoint, even while other processes write. What is newer than a snapshot that one of them still reads is
   * copied by a later checkpoint.
   */
  #run(): void {
    this.#isDue = false;
    if (this.#isStopped) return;
    const { log, checkpointed } = this.#query(copy) ?? {};
    if (log === undefined || log !== checkpointed) this.#notBefore = performance.now() + PAUSE;
  }

  /** Copies the whole log into the database file and empties it. Returns false if another process uses the log. */
  truncate(): boolean {
    return !this.#isStopped && Number(this.#query(copyAll)?.["busy"]) === 0;
  }

  stop(): void {
    this.#isStopped = true;
  }

  #query(statement: EngineSql) {
    const { connection, endRead, failed } = this.#options;
    try {
      endRead();
      return connection.first(statement, []);
    } catch (error) {
      failed(error);
      return undefined;
    }
  }
}

/**
 * Creates a store in `file`, and its folder, unless it exists. `bytes` returns its content. The file gets its name only
 * when it is complete and on disk, so a crash leaves no partial store. If several processes create it at once, one
 * succeeds and the others use its file. Throws `StorageUnusable`, or file system errors.
 */
export function createStore(file: string, bytes: () => Uint8Array): void {
  if (existsSync(file)) return;
  makeFolder(dirname(file));
  const log = `${file}-wal`;
  // Check the log first: a process that creates the store creates the file before the log.
  if (existsSync(log) && !existsSync(file)) {
    throw new StorageUnusable(
      `${file} is missing, but its log ${log} exists and may hold acknowledged changes. Put the file back. If it is ` +
        "lost, move the log away and restore a backup. To start with an empty store, move the log away.",
    );
  }
  createIfFree(file, bytes());
}

/** Throws `StorageUnusable` if the file exists but is empty. SQLite would treat it as a new database. */
export function requireNotEmpty(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() && found.size === 0) throw emptyFile(file);
}

export function emptyFile(file: string): StorageUnusable {
  return new StorageUnusable(
    `${file} is empty. No release leaves an empty store: its content is lost, or it was never a store. Put a backup in ` +
      `its place. To start with a new store, move it elsewhere, with ${file}-wal and ${file}-shm if they are there.`,
  );
}
