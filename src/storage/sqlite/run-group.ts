import type { Appended, Row, Statement } from "../statement.ts";
import {
  type AppendStep,
  countParameters,
  isSameAppend,
  type StoreStep,
  type Transaction,
  TransactionRun,
} from "../transaction.ts";
import { type Connection, rollback } from "./connection.ts";

const savepoint: Statement = { sql: "SAVEPOINT member" };
const release: Statement = { sql: "RELEASE member" };
const undo: Statement = { sql: "ROLLBACK TO member" };

/** A transaction that waits for its commit. */
export interface Waiting {
  readonly body: () => Transaction<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** When it was added: `performance.now()`. */
  readonly since: number;
}

/** Settles the promise of one member. Called when the commit is on disk. */
export type Settle = () => void;

export interface RunGroupOptions {
  readonly connection: Connection;
  /** Begins the transaction of a group. */
  readonly begin: () => void;
  /** Raises the version of a shop. The commit, or a rollback, follows in the same turn. */
  readonly raise: (shop: number) => void;
  /** Converts an error for the caller. */
  readonly report: (error: unknown) => unknown;
}

/**
 * Runs the transactions of a group in one transaction, which it begins but does not end: first all together, or if one
 * throws, each in a savepoint, so that its error undoes only itself. Throws an error that undid all of them.
 */
export function runGroup(group: readonly Waiting[], options: RunGroupOptions): Settle[] {
  options.begin();
  return runTogether(group, options) ?? runApart(group, options);
}

/** Runs all members. If one throws, rolls all of them back, begins again and returns undefined. */
function runTogether(group: readonly Waiting[], options: RunGroupOptions): Settle[] | undefined {
  const { connection, begin } = options;
  try {
    const runs = group.map(({ body }) => new TransactionRun(body));
    for (let index = 0, count = 0; index < runs.length; index += count) {
      count = sameAppends(runs, index);
      if (count > 1) runAppends(options, runs.slice(index, index + count));
      else runToEnd(options, runs[index] as TransactionRun<unknown>);
    }
    return runs.map((run, index) => outcomeOf(run, group[index] as Waiting));
  } catch {
    if (connection.inTransaction) connection.run(rollback);
    begin();
    return undefined;
  }
}

function runApart(group: readonly Waiting[], options: RunGroupOptions): Settle[] {
  const { connection, report } = options;
  return group.map((waiting) => {
    connection.run(savepoint);
    try {
      const run = new TransactionRun(waiting.body);
      runToEnd(options, run);
      connection.run(release);
      return outcomeOf(run, waiting);
    } catch (error) {
      // A full disk or a failed write has already undone the whole transaction: all members fail.
      if (!connection.inTransaction) throw error;
      connection.run(undo);
      connection.run(release);
      const reported = report(error);
      return () => waiting.reject(reported);
    }
  });
}

function outcomeOf(run: TransactionRun<unknown>, { resolve, reject }: Waiting): Settle {
  return () => {
    try {
      resolve(run.finish());
    } catch (error) {
      reject(error); // the other members still get their results
    }
  };
}

/** The number of consecutive runs, from `index` on, that begin with the same append to the same shop; at least 1. */
function sameAppends(runs: readonly TransactionRun<unknown>[], index: number): number {
  const step = runs[index]?.step;
  let end = index + 1;
  if (step && "append" in step) while (end < runs.length && isSameAppend(step, runs[end]?.step)) end++;
  return end - index;
}

/** Runs transactions that begin with the same append to the same shop. */
function runAppends(options: RunGroupOptions, runs: readonly TransactionRun<unknown>[]): void {
  const rows = appendTogether(
    options.connection,
    runs.map(({ step }) => step as AppendStep),
  );
  for (const [index, run] of runs.entries()) {
    run.advance(rows[index]);
    runToEnd(options, run);
  }
}

/** Runs one or more steps with the same append to the same shop, of which it counts all rows at once. */
export function appendTogether(connection: Connection, steps: readonly AppendStep[]): Row[][] {
  const [{ append, shop }] = steps as [AppendStep];
  const counted = connection.first(append.count, countParameters(steps)) as Appended | undefined;
  if (!counted) return steps.map(() => []);
  let { id, log_id } = counted;
  const { at } = counted;
  return steps.map(({ row, logged }) => {
    const appended: Appended = { id: id++, at, log_id: log_id++ };
    connection.all(append.insert, [shop, appended.id, at, ...row]);
    connection.all(append.log, [shop, appended.id, at, appended.log_id, ...logged]);
    return [appended];
  });
}

function runToEnd(options: RunGroupOptions, run: TransactionRun<unknown>): void {
  for (let step = run.step; step; step = run.step) run.advance(runStep(options, step));
}

function runStep(options: RunGroupOptions, step: StoreStep): unknown {
  if ("group" in step) return step.group.map((one) => runStep(options, one));
  const { connection, raise } = options;
  if ("append" in step) return appendTogether(connection, [step])[0];
  const { statement, parameters } = step;
  if (statement.raisesVersion) raise(Number(parameters[0]));
  return connection.all(statement, parameters);
}
