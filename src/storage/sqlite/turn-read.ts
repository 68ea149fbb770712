import { begin, type Connection, commit } from "./connection.ts";

/** After this many milliseconds without a read, there is probably no other request. */
const QUIET = 10;

export interface TurnReadOptions {
  readonly connection: Connection;
  /** Called when the transaction has begun. If it throws, the transaction ends, and `begin` throws the error. */
  readonly begun: () => void;
  /** Called with each error of ending the transaction. */
  readonly failed: (error: unknown) => void;
}

/**
 * The read transaction that all reads in one turn of the event loop share, because its locks cost several times more
 * than finding a row.
 */
export class TurnRead {
  readonly #options: TurnReadOptions;
  /** True from the first read of a turn to the end of the turn or the next commit. */
  #isOpen = false;
  /** When it last began: `performance.now()`. */
  #begunAt = Number.NEGATIVE_INFINITY;

  constructor(options: TurnReadOptions) {
    this.#options = options;
  }

  /**
   * Begins the transaction, unless it is open. It sees everything committed up to now, including commits of other
   * processes.
   */
  begin(): void {
    if (this.#isOpen) return;
    const { connection, begun } = this.#options;
    connection.run(begin);
    this.#isOpen = true;
    this.#begunAt = performance.now();
    setImmediate(this.end);
    try {
      begun();
    } catch (error) {
      this.end();
      throw error;
    }
  }

  /** Ends the transaction if it is open. */
  readonly end = (): void => {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { connection, failed } = this.#options;
    try {
      // Some SQLite errors have already ended the transaction.
      if (connection.inTransaction) connection.run(commit);
    } catch (error) {
      failed(error);
    }
  };

  /** True if there were no recent reads. */
  get isQuiet(): boolean {
    return performance.now() - this.#begunAt > QUIET;
  }
}
