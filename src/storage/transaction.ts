import type { ChangeStep } from "../contract/change.ts";
import type { Append, Appended, Row, SqlParameter, Statement } from "./statement.ts";

/** A step of a transaction: a statement that the engine runs, giving its rows back. */
export interface Step extends ChangeStep {
  readonly statement: Statement;
  readonly parameters: readonly SqlParameter[];
  /** True if the transaction ends after it, and nothing that comes of it can undo it. */
  readonly isLast?: boolean;
  /** What is run after it, without waiting for it; its rows go to `takeMore`. */
  readonly more?: readonly Call[];
  /** Must be called before the body continues, with the rows of each of `more`. */
  readonly takeMore?: (rows: readonly (readonly Row[])[]) => void;
  /** The step adds a row: then `statement` is its `count`, and the parameters are time, list and the values. */
  readonly append?: Append;
  /** The values of its row in the log, where the step adds a row. */
  readonly logged?: readonly SqlParameter[];
}

/** A statement with its parameters. */
export interface Call {
  readonly statement: Statement;
  readonly parameters: readonly SqlParameter[];
}

/** A step of a transaction that runs nothing in the store: see `afterCommit`. */
export interface AfterCommit extends ChangeStep {
  readonly afterCommit: () => void;
}

/**
 * The body of a transaction. It is a generator, so that one text serves an engine that runs each
 * step at once and one that must wait for it. It must do nothing but steps and computation: an
 * engine may run it again. What else must happen goes into `afterCommit`.
 */
export type Transaction<T> = Generator<Step | AfterCommit, T, readonly Row[]>;

/** Makes a step. Its mark exists in the types only; this is the only place that adds it. */
export function step(parts: Omit<Step, keyof ChangeStep>): Step {
  return parts as Step;
}

/**
 * Inside a transaction, before its last step: has something done once its commit is on disk, before the caller
 * gets its result. It is done once, however often the body runs, and never if the transaction is rolled back or its commit
 * is not known. It must not throw: the transaction would seem to have failed.
 */
export function* afterCommit(action: () => void): Transaction<void> {
  yield { afterCommit: action } as AfterCommit;
}

/** Inside a transaction: runs the statement and gives all rows. */
export function* all<R extends Row>(text: Statement<R>, ...parameters: SqlParameter[]): Transaction<readonly R[]> {
  return (yield step({ statement: text, parameters })) as readonly R[];
}

/** Inside a transaction: runs the statement and gives its first row, if there is one. */
export function* first<R extends Row>(text: Statement<R>, ...parameters: SqlParameter[]): Transaction<R | undefined> {
  return (yield step({ statement: text, parameters }))[0] as R | undefined;
}

/**
 * The last step of a transaction: runs the statement and gives its first row, if there is one. What
 * follows it may compute, but neither throw nor continue with another step. An engine across the network
 * sends it together with the commit, and one that is also the first together with those of others.
 */
export function* final<R extends Row>(text: Statement<R>, ...parameters: SqlParameter[]): Transaction<R | undefined> {
  return (yield step({ statement: text, parameters, isLast: true }))[0] as R | undefined;
}

/**
 * The last step of a transaction: adds a row to a list and one to its log, and gives what the first got from the list's
 * counter; undefined where there is no such list. `now` is in unix milliseconds.
 */
export function* append(
  to: Append,
  list: number,
  now: number,
  values: readonly SqlParameter[],
  logged: readonly SqlParameter[],
): Transaction<Appended | undefined> {
  const parameters = [now, list, ...values];
  return (yield step({ statement: to.count, parameters, isLast: true, append: to, logged }))[0] as Appended | undefined;
}
