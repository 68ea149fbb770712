import type { Database } from "bun:sqlite";
import { openDatabase } from "../../../src/storage/sqlite/database.ts";
import type { Row, SqlParameter, Statement } from "../../../src/storage/statement.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import type { AppendStep, Transaction } from "../../../src/storage/transaction.ts";
import { TransactionRun } from "../../../src/storage/transaction-run.ts";

/** How much later than its acknowledgement a write is committed, in milliseconds. */
const DELAY = 50;

/** A store that breaks its word: it acknowledges a write that has run, and commits later. */
export class EarlyStorage implements Storage {
  readonly noticesEveryWrite = true;
  readonly readsSynchronously = true;
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

  async write<T>(body: () => Transaction<T>): Promise<T> {
    if (!this.#database.inTransaction) {
      this.#database.run("BEGIN IMMEDIATE");
      setTimeout(() => this.#database.run("COMMIT"), DELAY);
    }
    return this.run(body);
  }

  /** Runs the statements of a transaction. Calls back with the SQL of each but the last, after it has run. */
  protected run<T>(body: () => Transaction<T>, between = (_sql: string) => {}): T {
    const run = new TransactionRun(body);
    for (let step = run.step; step; step = run.step) {
      if (step.append) run.advance(this.#append(step));
      else {
        const rows = this.all(step.statement, ...step.parameters);
        for (const other of step.more ?? []) this.all(other.statement, ...other.parameters);
        run.advance(rows);
      }
      if (run.step) between(step.append ? step.append.insert.sql : step.statement.sql);
    }
    return run.finish();
  }

  #append({ append: { count, insert, log }, shop, now, values, logged }: AppendStep): Row[] {
    const [counted] = this.all(count, now, 1, shop);
    if (!counted) return [];
    const { id, at, log_id } = counted;
    this.all(insert, shop, id, at, ...values);
    this.all(log, shop, id, at, log_id, ...logged);
    return [counted];
  }

  onOtherProcessChange(): void {}
  onCommit(): void {}
  settled(): void {}
  async accessChangesPropagated(): Promise<void> {}
  async scrub(): Promise<boolean> {
    return true;
  }
  catchUp(): boolean {
    return true;
  }
  lead(): boolean {
    return true;
  }
  async check(): Promise<void> {}
  async close(): Promise<void> {}
}
