import type { Database } from "bun:sqlite";
import { openDatabase } from "../../../src/storage/sqlite/database.ts";
import {
  type Append,
  type Row,
  Run,
  type SqlParameter,
  type Stage,
  type Statement,
  type Storage,
  type Transaction,
} from "../../../src/storage/storage.ts";

/** How much later than its acknowledgement a write is committed, in milliseconds. */
const DELAY = 50;

/** A store that breaks its word: it acknowledges a write that has run, and commits later. */
export class EarlyStorage implements Storage {
  readonly noticesEveryWrite = true;
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

  async *stream<R extends Row>(statement: Statement<R>, ...parameters: SqlParameter[]): AsyncGenerator<R[]> {
    yield this.all(statement, ...parameters);
  }

  stage(): Stage {
    throw new Error("The service brings in no rows.");
  }

  async write<T>(body: () => Transaction<T>): Promise<T> {
    if (!this.#database.inTransaction) {
      this.#database.run("BEGIN IMMEDIATE");
      setTimeout(() => this.#database.run("COMMIT"), DELAY);
    }
    return this.run(body);
  }

  /** Runs the statements of a transaction, and calls back before each but the first. */
  protected run<T>(body: () => Transaction<T>, between = () => {}): T {
    const run = new Run(body);
    for (let step = run.step; step; step = run.step) {
      const { statement, parameters, more = [], append } = step;
      if (append) run.advance(this.#append(append, parameters));
      else {
        const rows = this.all(statement, ...parameters);
        for (const others of more) this.all(statement, ...others);
        run.advance(rows);
      }
      if (run.step) between();
    }
    return run.finish();
  }

  #append({ count, insert }: Append, [now = 0, list = 0, ...values]: readonly SqlParameter[]): Row[] {
    const [counted] = this.all(count, now, list);
    if (!counted) return [];
    this.all(insert, list, counted.id, counted.at, ...values);
    return [counted];
  }

  onForeignWrite(): void {}
  catchUp(): boolean {
    return true;
  }
  lead(): boolean {
    return true;
  }
  async probe(): Promise<void> {}
  async close(): Promise<void> {}
}
