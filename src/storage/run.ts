import type { Row } from "./statement.ts";
import type { AfterCommit, Step, Transaction } from "./transaction.ts";

/** One run of the body of a transaction, by an engine. */
export class Run<T> {
  readonly #body: Transaction<T>;
  /** What the body wants done after the commit: most want nothing. */
  #actions: (() => void)[] | undefined;
  #next: IteratorResult<Step | AfterCommit, T>;

  /** Runs the body up to its first statement. Throws what the body throws. */
  constructor(body: () => Transaction<T>) {
    this.#body = body();
    this.#next = this.#body.next([]);
    this.#collect();
  }

  /** The statement that the body waits for; undefined after its end. */
  get step(): Step | undefined {
    return this.#next.done ? undefined : (this.#next.value as Step);
  }

  /** True if something is to be done after the commit, as far as the body has run. */
  get hasActions(): boolean {
    return this.#actions !== undefined;
  }

  /** Gives the body the rows of its statement. Throws what the body throws. */
  advance(rows: readonly Row[]): void {
    const { isLast } = this.step as Step;
    this.#next = this.#body.next(rows);
    if (isLast && !this.#next.done) throw new TypeError("A transaction went on after its last step.");
    this.#collect();
  }

  /** Must be called once the commit is on disk, after the end of the body: does what it wants done, and gives its value. */
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
