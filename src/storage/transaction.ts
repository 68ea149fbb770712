import type { ChangeStep } from "../contract/change.ts";
import type { Append, Appended, Row, SqlParameter, Statement } from "./statement.ts";

/** A statement with its parameters. */
export interface Call<R extends Row = Row> {
  readonly statement: Statement<R>;
  readonly parameters: readonly SqlParameter[];
}

/** A step of a transaction that runs statements. The engine returns the rows of the first. */
export interface StatementStep extends ChangeStep, Call {
  /** True if the transaction ends after this step, and no later code rolls it back. */
  readonly isLast?: boolean;
  /** More statements, sent in the same round trip. Their rows go to `takeMore`. */
  readonly more?: readonly Call[];
  /** The engine calls it with the rows of each statement in `more`, before the body continues. */
  readonly takeMore?: (rows: readonly (readonly Row[])[]) => void;
  readonly append?: undefined;
}

/** A step of a transaction that appends a row: see `append`. The engine returns an `Appended`, or no row. */
export interface AppendStep extends ChangeStep {
  readonly append: Append;
  readonly shop: number;
  /** Unix milliseconds. */
  readonly now: number;
  /** The values of the row. */
  readonly values: readonly SqlParameter[];
  /** The values of the row in the log. */
  readonly logged: readonly SqlParameter[];
  readonly isLast?: boolean;
}

/** A step of a transaction that the engine runs. */
export type Step = StatementStep | AppendStep;

/** A step of a transaction that runs nothing in the store: see `afterCommit`. */
export interface AfterCommit extends ChangeStep {
  readonly afterCommit: () => void;
}

/**
 * The body of a transaction. Handlers, which do not know its steps, call it a `Change`. It is a generator, so that the
 * same code works for synchronous and asynchronous engines. An engine may run it again, so it must have no side effects
 * except steps. Put other effects into `afterCommit`.
 */
export type Transaction<T> = Generator<Step | AfterCommit, T, readonly Row[]>;

type Unbranded<S extends Step> = Omit<S, keyof ChangeStep>;

/** Creates a step. The brand of `ChangeStep` exists only in the types, and only this function adds it. */
export function step(parts: Unbranded<StatementStep> | Unbranded<AppendStep>): Step {
  return parts as Step;
}

/**
 * Inside a transaction, before its last step: runs the action when the commit is on disk, before the caller gets the
 * result. The action runs once, however often the body runs. It does not run if the transaction is rolled back or the
 * outcome of the commit is unknown. It must not throw, because the transaction would appear to have failed.
 */
export function* afterCommit(action: () => void): Transaction<void> {
  yield { afterCommit: action } as AfterCommit;
}

/** Inside a transaction: runs the statement and returns all rows. */
export function* all<R extends Row>(statement: Statement<R>, ...parameters: SqlParameter[]): Transaction<readonly R[]> {
  return (yield step({ statement, parameters })) as readonly R[];
}

/** Inside a transaction: runs the statement and returns its first row, if there is one. */
export function* first<R extends Row>(
  statement: Statement<R>,
  ...parameters: SqlParameter[]
): Transaction<R | undefined> {
  return (yield step({ statement, parameters }))[0] as R | undefined;
}

/**
 * The last step of a transaction: runs the statement and returns its first row, if there is one. Code after it must not
 * throw or run another step. PostgreSQL gets it in one round trip with the commit. If it is also the first step, it
 * shares the round trip with other transactions.
 */
export function* final<R extends Row>(
  statement: Statement<R>,
  ...parameters: SqlParameter[]
): Transaction<R | undefined> {
  return (yield step({ statement, parameters, isLast: true }))[0] as R | undefined;
}

/**
 * The last step of a transaction: adds a row to a table of a shop, and a row to its log. Returns the values that the
 * engine gave the first one; undefined if the data of the shop was deleted. `now` is in unix milliseconds.
 */
export function* append(
  to: Append,
  shop: number,
  now: number,
  values: readonly SqlParameter[],
  logged: readonly SqlParameter[],
): Transaction<Appended | undefined> {
  return (yield step({ append: to, shop, now, values, logged, isLast: true }))[0] as Appended | undefined;
}

/** The latest time of several appends, in unix milliseconds. */
export function latestTime(steps: readonly AppendStep[]): number {
  let latest = 0;
  for (const { now } of steps) latest = Math.max(latest, now);
  return latest;
}
