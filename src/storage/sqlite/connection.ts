import { constants, type Database, type Statement as SqliteStatement } from "bun:sqlite";
import type { EngineSql, Row, SqlParameter, Values } from "../statement.ts";

/** Takes no lock before the first statement that needs one. */
const begin: EngineSql = { sql: "BEGIN" };
/** Takes the write lock of the store. */
export const beginImmediate: EngineSql = { sql: "BEGIN IMMEDIATE" };
export const commit: EngineSql = { sql: "COMMIT" };
export const rollback: EngineSql = { sql: "ROLLBACK" };

/** A connection to the store. It prepares each statement once. Throws SQLite's errors. */
export class Connection {
  readonly #database: Database;
  readonly #prepared = new Map<EngineSql, SqliteStatement<Row, SqlParameter[]>>();

  constructor(database: Database) {
    this.#database = database;
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  all(statement: EngineSql, parameters: Values): Row[] {
    return this.#prepare(statement).all(...parameters);
  }

  first(statement: EngineSql, parameters: Values): Row | undefined {
    return this.#prepare(statement).get(...parameters) ?? undefined;
  }

  /** The rows in batches. The statement stays open, and its snapshot stays fixed, until the last row is read. */
  *batches(statement: EngineSql, parameters: Values, size: number): Generator<Row[]> {
    let batch: Row[] = [];
    for (const row of this.#prepare(statement).iterate(...parameters)) {
      if (batch.push(row) < size) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  run(statement: EngineSql): void {
    this.#prepare(statement).run();
  }

  /** Keeps the write-ahead log on disk when the connection is closed or the process ends. */
  keepLog(): void {
    this.#database.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1);
  }

  close(): void {
    for (const prepared of this.#prepared.values()) prepared.finalize();
    this.#database.close();
  }

  #prepare(statement: EngineSql): SqliteStatement<Row, SqlParameter[]> {
    let prepared = this.#prepared.get(statement);
    if (!prepared) {
      const sql = forSqlite(statement.sql);
      prepared = this.#database.prepare<Row, SqlParameter[]>(sql);
      if (statement.kind === "query" && this.#writes(sql)) throw new TypeError(`A query changes the store: ${sql}`);
      this.#prepared.set(statement, prepared);
    }
    return prepared;
  }

  /** True if the program that SQLite makes of a statement begins a write (https://sqlite.org/opcode.html#Transaction). */
  #writes(sql: string): boolean {
    const program = this.#database.prepare<{ opcode: string; p2: bigint | number }, []>(`EXPLAIN ${sql}`);
    try {
      return program.all().some(({ opcode, p2 }) => opcode === "Transaction" && p2 > 0);
    } finally {
      program.finalize();
    }
  }
}

/**
 * The statement with SQLite's numbered parameters, and such that SQLite plans it only once. Where a plan may depend on
 * the value of a parameter, such as with `ORDER BY` or `LIMIT`, SQLite plans the statement again whenever a value is
 * bound, which takes longer than reading a short page. It plans once if no comparison or limit is a bare parameter; a
 * unary plus changes no value. The setting for this (SQLITE_DBCONFIG_ENABLE_QPSG) cannot be reached from Bun.
 */
export function forSqlite(sql: string): string {
  return sql.replaceAll(/\$(\d+)/g, "+?$1");
}

/** After this many milliseconds without a read of another request, there is probably no other request. */
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
  /** How many began since the last commit. */
  #turns = 0;
  /** When others than the requests of a commit have last read: `performance.now()`. */
  #othersReadAt = Number.NEGATIVE_INFINITY;

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
    this.#turns++;
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

  /**
   * Called at each commit, with the number of its transactions. True if there were no recent reads but theirs: a request
   * with an idempotency key looks it up first.
   */
  isQuietBut(transactions: number): boolean {
    const now = performance.now();
    if (this.#turns > transactions) this.#othersReadAt = now;
    this.#turns = 0;
    return now - this.#othersReadAt > QUIET;
  }
}
