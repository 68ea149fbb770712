import type { Database } from "bun:sqlite";
import { migrations } from "../../../src/app/schema.ts";
import { Connection } from "../../../src/storage/sqlite/connection.ts";
import { openDatabase } from "../../../src/storage/sqlite/database.ts";
import { appendTogether } from "../../../src/storage/sqlite/run-group.ts";
import type { Row, Statement, Values } from "../../../src/storage/statement.ts";
import { type StatementStep, type StoreStep } from "../../../src/storage/step.ts";
import type { OpenStorage } from "../../../src/storage/storage.ts";
import { type Change, type KnownSteps, type Read, TransactionRun } from "../../../src/storage/transaction.ts";

/** How much later than its acknowledgement a write is committed, in milliseconds. */
const DELAY = 50;

/** A store that breaks its word: it acknowledges a write that has run, and commits later. */
export class EarlyStorage implements OpenStorage {
  readonly readsSynchronously = true;
  readonly #database: Database;
  readonly #connection: Connection;

  constructor(file: string) {
    this.#database = openDatabase(file, 20, migrations);
    this.#connection = new Connection(this.#database);
  }

  async read<T>(transaction: Read<T>): Promise<T> {
    const steps = transaction as KnownSteps<T>;
    let next = steps.next();
    while (!next.done) {
      const step = next.value;
      if ("waitsFor" in step) next = steps.next(await step.waitsFor);
      else next = steps.next("pauses" in step ? undefined : this.#rows(step as StatementStep));
    }
    return next.value;
  }

  async *stream<P extends Values, R extends Row>(
    statement: Statement<P, R>,
    ...parameters: NoInfer<P>
  ): AsyncGenerator<R[]> {
    yield this.#rows({ statement, parameters }) as R[];
  }

  async write<T>(body: () => Change<T>): Promise<T> {
    if (!this.#database.inTransaction) {
      this.#database.run("BEGIN IMMEDIATE");
      setTimeout(() => this.#database.run("COMMIT"), DELAY);
    }
    return this.run(body);
  }

  /** Runs the statements of a transaction. Calls back with the SQL of each but the last, after it has run. */
  protected run<T>(body: () => Change<T>, between = (_sql: string) => {}): T {
    const run = new TransactionRun(body);
    for (let step = run.step; step; step = run.step) {
      run.advance(this.#resultOf(step));
      if (run.step) between(sqlOf(step));
    }
    return run.finish();
  }

  #resultOf(step: StoreStep): unknown {
    if ("group" in step) return step.group.map((one) => this.#resultOf(one));
    return "append" in step ? appendTogether(this.#connection, [step])[0] : this.#rows(step);
  }

  #rows({ statement, parameters }: StatementStep): Row[] {
    return this.#connection.all(statement, parameters);
  }

  follow(): void {}
  onCommit(): void {}
  settled(): void {}
  async changesPropagated(): Promise<void> {}
  async scrub(): Promise<boolean> {
    return true;
  }
  versionOf(): undefined {}
  lead(): boolean {
    return true;
  }
  async check(): Promise<void> {}
  async close(): Promise<void> {}
}

function sqlOf(step: StoreStep): string {
  if ("group" in step) return step.group.map(sqlOf).join("; ");
  return "append" in step ? step.append.insert.sql : step.statement.sql;
}
