import type { Database } from "bun:sqlite";
import { openDatabase } from "../../../src/storage/sqlite/database.ts";
import type { Row, SqlParameter, Statement, Storage, Transaction } from "../../../src/storage/storage.ts";

/** How much later than its acknowledgement a write is committed, in milliseconds. */
const DELAY = 50;

/** A store that breaks its word: it acknowledges a write that has run, and commits later. */
export class EarlyStorage implements Storage {
  readonly #database: Database;

  constructor(file: string) {
    this.#database = openDatabase(file, 20);
  }

  all<R extends Row>({ sql }: Statement<R>, ...parameters: SqlParameter[]): R[] {
    return this.#database.query<R, SqlParameter[]>(sql).all(...parameters);
  }

  first<R extends Row>(statement: Statement<R>, ...parameters: SqlParameter[]): R | undefined {
    return this.all(statement, ...parameters)[0];
  }

  async write<T>(body: () => Transaction<T>): Promise<T> {
    if (!this.#database.inTransaction) {
      this.#database.run("BEGIN IMMEDIATE");
      setTimeout(() => this.#database.run("COMMIT"), DELAY);
    }
    const steps = body();
    let step = steps.next();
    while (!step.done) step = steps.next(this.all(step.value.statement, ...step.value.parameters));
    return step.value;
  }

  onForeignWrite(): void {}
  catchUp(): void {}
  async probe(): Promise<void> {}
  async close(): Promise<void> {}
}
