import type { Statement } from "../statement.ts";
import type { Connection } from "./connection.ts";

/** Pages of the write-ahead log from which on it is moved into the file: about 4 MB, as SQLite itself has it. */
const LONG = 1_000;
/** After a checkpoint that could not be finished, the next one waits so long, in milliseconds. */
const PAUSE = 1_000;

const look: Statement = { sql: "PRAGMA wal_checkpoint(NOOP)" };
const move: Statement = { sql: "PRAGMA wal_checkpoint(PASSIVE)" };
const moveAll: Statement = { sql: "PRAGMA wal_checkpoint(TRUNCATE)" };

/** What checkpoints need of their store. */
export interface CheckpointOptions {
  readonly connection: Connection;
  /** Called before each checkpoint: the connection must be in no transaction. */
  readonly prepare: () => void;
  /** Told what SQLite threw. */
  readonly failed: (error: unknown) => void;
}

/**
 * Moves the write-ahead log into the file of the store when it has become long. SQLite would do so
 * itself, but tell nobody when it fails; and a sync that has failed must not be tried again, because
 * the second one succeeds without what the first one has lost.
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
    const { log = 0n } = this.#run(look) ?? {};
    if (Number(log) < LONG) return;
    this.#isDue = true;
    setImmediate(() => this.#checkpoint()); // clients that wait for the commit come first
  }

  /** Moves the log now, even while other processes write. */
  now(): void {
    this.#checkpoint();
  }

  /** Moves all of the log now and empties it. Returns false where others use it. */
  truncate(): boolean {
    return !this.#isStopped && Number(this.#run(moveAll)?.["busy"]) === 0;
  }

  stop(): void {
    this.#isStopped = true;
  }

  #checkpoint(): void {
    this.#isDue = false;
    if (this.#isStopped) return;
    const { log, checkpointed } = this.#run(move) ?? {};
    if (log === undefined || log !== checkpointed) this.#notBefore = performance.now() + PAUSE;
  }

  #run(statement: Statement) {
    const { connection, prepare, failed } = this.#options;
    try {
      prepare();
      return connection.first(statement, []);
    } catch (error) {
      failed(error);
      return undefined;
    }
  }
}
