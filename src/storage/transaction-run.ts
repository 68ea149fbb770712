import type { Row } from "./statement.ts";
import type { AfterCommit, Step, Transaction } from "./transaction.ts";

/** One execution of a transaction's body by an engine. */
export class TransactionRun<T> {
  readonly #body: Transaction<T>;
  /** The `afterCommit` actions of the body. Most have none. */
  #actions: (() => void)[] | undefined;
  #next: IteratorResult<Step | AfterCommit, T>;

  /** Runs the body up to its first statement. Throws the errors of the body. */
  constructor(body: () => Transaction<T>) {
    this.#body = body();
    this.#next = this.#body.next([]);
    this.#collect();
  }

  /** The step whose rows the body waits for; undefined after the end of the body. */
  get step(): Step | undefined {
    return this.#next.done ? undefined : (this.#next.value as Step);
  }

  /** True if the body has requested an `afterCommit` action so far. */
  get hasActions(): boolean {
    return this.#actions !== undefined;
  }

  /** Passes the rows of the current step to the body and runs it up to the next step. Throws the errors of the body. */
  advance(rows: readonly Row[]): void {
    const { isLast } = this.step as Step;
    this.#next = this.#body.next(rows);
    if (isLast && !this.#next.done) throw new TypeError("A transaction went on after its last step.");
    this.#collect();
  }

  /** Runs the `afterCommit` actions and returns the body's value. Call it once, when the commit is on disk. */
  finish(): T {
    if (!this.#next.done) throw new TypeError("A transaction was finished before its end.");
    if (this.#actions) for (const act of this.#actions) act();
    return this.#next.value;
  }

  #collect(): void {
    while (!this.#next.done && "afterCommit" in this.#next.value) {
      (this.#actions ??= []).push(this.#next.value.afterCommit);
      this.#next = this.#body.next([]);
    }
  }
}
