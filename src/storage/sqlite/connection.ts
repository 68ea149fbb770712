import { constants, type Database, type Statement as SqliteStatement } from "bun:sqlite";
import type { Row, SqlParameter, Statement } from "../statement.ts";

/** One connection to the store, with its statements prepared. Throws the errors of SQLite. */
export class Connection {
  readonly #database: Database;
  readonly #prepared = new Map<Statement, SqliteStatement<Row, SqlParameter[]>>();

  constructor(database: Database) {
    this.#database = database;
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  all(statement: Statement, parameters: readonly SqlParameter[]): Row[] {
    return this.#prepare(statement).all(...parameters);
  }

  first(statement: Statement, parameters: readonly SqlParameter[]): Row | undefined {
    return this.#prepare(statement).get(...parameters) ?? undefined;
  }

  /** The rows one by one. The statement is in use, and with it what it reads is kept, until the last is taken. */
  iterate(statement: Statement, parameters: readonly SqlParameter[]): IterableIterator<Row> {
    return this.#prepare(statement).iterate(...parameters);
  }

  run(statement: Statement): void {
    this.#prepare(statement).run();
  }

  /** Lets the write-ahead log stay when the connection is closed, and so also when the process ends. */
  keepLog(): void {
    this.#database.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1);
  }

  close(): void {
    for (const prepared of this.#prepared.values()) prepared.finalize();
    this.#database.close();
  }

  #prepare(statement: Statement): SqliteStatement<Row, SqlParameter[]> {
    let prepared = this.#prepared.get(statement);
    if (!prepared) {
      prepared = this.#database.prepare<Row, SqlParameter[]>(statement.sql);
      this.#prepared.set(statement, prepared);
    }
    return prepared;
  }
}
