import type { Change, Read, Step, Steps } from "../contract/steps.ts";
import type { Append, Appended, Row, SqlParameter, Statement, Values } from "./statement.ts";
import { type AppendStep, type KnownStep, type NewRow, type StoreStep, step } from "./step.ts";

export type { Change, Query, Read, Steps } from "../contract/steps.ts";

/** A running transaction, as engines see it: they pass the result of each step to `next`. */
export type KnownSteps<T> = Generator<KnownStep & Step, T, unknown>;

/** Inside a transaction: runs the statement and returns all rows. */
export function* all<P extends Values, R extends Row, K extends Statement["kind"]>(
  statement: Statement<P, R, K>,
  ...parameters: NoInfer<P>
): Steps<readonly R[], K> {
  return (yield step({ statement, parameters })) as readonly R[];
}

/** Inside a transaction: runs the statement and returns its first row, if there is one. */
export function* first<P extends Values, R extends Row, K extends Statement["kind"]>(
  statement: Statement<P, R, K>,
  ...parameters: NoInfer<P>
): Steps<R | undefined, K> {
  return ((yield step({ statement, parameters })) as readonly R[])[0];
}

/**
 * Inside a transaction: appends a row. Returns undefined if the shop takes no row. Transactions of a shop that begin with
 * this step run side by side, so their later steps may change only what belongs to their rows.
 */
export function* append<R extends Values, L extends Values>(
  to: Append<R, L>,
  row: NoInfer<NewRow<R, L>>,
): Change<Appended | undefined> {
  return ((yield step({ ...row, append: to })) as readonly Appended[])[0];
}

/**
 * Inside a transaction: runs the action when the commit is on disk, before the caller gets the
 * result. The action runs once, however often the transaction runs. It does not run if the transaction is rolled back or
 * the outcome of the commit is unknown. It must not throw, because the transaction would appear to have failed.
 */
export function* afterCommit(action: () => void): Change<void> {
  yield step({ afterCommit: action });
}

/** Inside a read: waits for something other than the store, such as the limiter. */
export function* waitFor<T>(value: T | Promise<T>): Read<T> {
  return value instanceof Promise ? ((yield step({ waitsFor: value })) as T) : value;
}

/**
 * Inside a read, between two pieces of work: the event loop may turn to others before the read goes on. Its later steps
 * may then see a later state of the store.
 */
export function* pause(): Read<void> {
  yield step({ pauses: true });
}

let isReading = false;

/** For engines: runs a read up to its next step. Its code cannot begin a change, not even to wait for it. */
export function resumeRead<T>(steps: KnownSteps<T>, result?: unknown): IteratorResult<KnownStep, T> {
  const isWithin = isReading;
  isReading = true;
  try {
    return steps.next(result);
  } finally {
    isReading = isWithin;
  }
}

/** For engines: throws if a read asks for a change. */
export function requireNoRead(): void {
  if (isReading) throw new TypeError("A read cannot change the store.");
}

/** One execution of a change by an engine. */
export class TransactionRun<T> {
  readonly #steps: KnownSteps<T>;
  /** The `afterCommit` actions of the body. Most have none. */
  #actions: (() => void)[] | undefined;
  #next: IteratorResult<KnownStep, T>;

  /** Runs the body up to its first step in the store. Throws the errors of the body. */
  constructor(body: () => Change<T>) {
    this.#steps = body() as KnownSteps<T>;
    this.#next = this.#steps.next();
    this.#collect();
  }

  /** The step to run next; undefined after the last one. */
  get step(): StoreStep | undefined {
    return this.#next.done ? undefined : (this.#next.value as StoreStep);
  }

  /** Passes the result of the current step to the body and runs it up to the next step. Throws the errors of the body. */
  advance(result: unknown): void {
    this.#next = this.#steps.next(result);
    this.#collect();
  }

  /** Runs the `afterCommit` actions and returns the body's value. Call it once, when the commit is on disk. */
  finish(): T {
    if (!this.#next.done) throw new TypeError("A transaction was finished before its end.");
    if (this.#actions) for (const act of this.#actions) act();
    return this.#next.value;
  }

  #collect(): void {
    for (; !this.#next.done; this.#next = this.#steps.next()) {
      const known = this.#next.value;
      if ("afterCommit" in known) (this.#actions ??= []).push(known.afterCommit);
      else if ("waitsFor" in known || "pauses" in known)
        throw new TypeError("A change paused or waited for something other than the store, while it holds locks.");
      else return;
    }
  }
}

/** True if the steps can run together: they have the same append to the same shop. */
export function isSameAppend(one: AppendStep, other: StoreStep | undefined): boolean {
  return other !== undefined && "append" in other && one.append === other.append && one.shop === other.shop;
}

/** The parameters of `count` for several steps with the same append to the same shop. */
export function countParameters(steps: readonly AppendStep[]): SqlParameter[] {
  const [{ shop, amounts }] = steps as [AppendStep];
  const now = steps.reduce((latest, one) => Math.max(latest, one.now), 0);
  const sums = amounts.map((_, index) => steps.reduce((sum, one) => sum + (one.amounts[index] as number), 0));
  return [shop, now, steps.length, ...sums];
}
