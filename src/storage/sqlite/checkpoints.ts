import type { Statement } from "../statement.ts";
import type { Connection } from "./connection.ts";

/** A write-ahead log of this many pages (about 4 MB) is checkpointed. SQLite's default is the same. */
const CHECKPOINT_PAGES = 1_000;
/** The wait after an incomplete checkpoint, in milliseconds. */
const PAUSE = 1_000;

const measure: Statement = { sql: "PRAGMA wal_checkpoint(NOOP)" };
const copy: Statement = { sql: "PRAGMA wal_checkpoint(PASSIVE)" };
const copyAll: Statement = { sql: "PRAGMA wal_checkpoint(TRUNCATE)" };

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

  #query(statement: Statement) {
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
