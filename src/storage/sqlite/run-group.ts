import type { Row, Statement } from "../statement.ts";
import { type AppendStep, type StoreStep, type Transaction, TransactionRun } from "../transaction.ts";
import { appendTogether, isSameAppend } from "./append.ts";
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

/** The outcome of one member's transaction. */
export interface MemberOutcome {
  /** Settles the member's promise. Called when the commit is on disk. */
  readonly settle: () => void;
  /** True if the transaction has `afterCommit` actions. */
  readonly hasActions: boolean;
}

export interface RunGroupOptions {
  readonly connection: Connection;
  /** Begins the transaction of a group. */
  readonly begin: () => void;
  /** Converts an error for the caller. */
  readonly report: (error: unknown) => unknown;
}

/**
 * Runs the transactions of a group in one transaction, which it begins but does not end: first all together, or if one
 * throws, each in a savepoint, so that its error undoes only itself. Throws an error that undid all of them.
 */
export function runGroup(group: readonly Waiting[], options: RunGroupOptions): MemberOutcome[] {
  options.begin();
  return runTogether(group, options) ?? runApart(group, options);
}

/** Runs all members. If one throws, rolls all of them back, begins again and returns undefined. */
function runTogether(group: readonly Waiting[], { connection, begin }: RunGroupOptions): MemberOutcome[] | undefined {
  try {
    const runs = group.map(({ body }) => new TransactionRun(body));
    for (let index = 0, count = 0; index < runs.length; index += count) {
      count = sameAppends(runs, index);
      if (count > 1) runAppends(connection, runs.slice(index, index + count));
      else runToEnd(connection, runs[index] as TransactionRun<unknown>);
    }
    return runs.map((run, index) => outcomeOf(run, group[index] as Waiting));
  } catch {
    if (connection.inTransaction) connection.run(rollback);
    begin();
    return undefined;
  }
}

/** Runs each member in a savepoint. */
function runApart(group: readonly Waiting[], { connection, report }: RunGroupOptions): MemberOutcome[] {
  return group.map((waiting) => {
    connection.run(savepoint);
    try {
      const run = new TransactionRun(waiting.body);
      runToEnd(connection, run);
      connection.run(release);
      return outcomeOf(run, waiting);
    } catch (error) {
      // A full disk or a failed write has already undone the whole transaction: all members fail.
      if (!connection.inTransaction) throw error;
      connection.run(undo);
      connection.run(release);
      const reported = report(error);
      return { settle: () => waiting.reject(reported), hasActions: false };
    }
  });
}

function outcomeOf(run: TransactionRun<unknown>, { resolve, reject }: Waiting): MemberOutcome {
  const settle = () => {
    try {
      resolve(run.finish());
    } catch (error) {
      reject(error); // the other members still get their results
    }
  };
  return { settle, hasActions: run.hasActions };
}

/** The number of consecutive runs, from `index` on, that begin with the same append to the same shop; at least 1. */
function sameAppends(runs: readonly TransactionRun<unknown>[], index: number): number {
  const step = runs[index]?.step;
  let end = index + 1;
  if (step?.append) while (end < runs.length && isSameAppend(step, runs[end]?.step)) end++;
  return end - index;
}

/** Runs transactions that begin with the same append to the same shop. */
function runAppends(connection: Connection, runs: readonly TransactionRun<unknown>[]): void {
  const rows = appendTogether(
    connection,
    runs.map(({ step }) => step as AppendStep),
  );
  for (const [index, run] of runs.entries()) {
    run.advance(rows[index] as Row[]);
    runToEnd(connection, run);
  }
}

function runToEnd(connection: Connection, run: TransactionRun<unknown>): void {
  for (let step = run.step; step; step = run.step) run.advance(runStep(connection, step));
}

/** Returns the rows of the step. */
function runStep(connection: Connection, step: StoreStep): Row[] {
  if (step.append) return appendTogether(connection, [step])[0] ?? [];
  const { statement, parameters, more, takeMore } = step;
  const rows = connection.all(statement, parameters);
  const others = more?.map((other) => connection.all(other.statement, other.parameters));
  if (others) takeMore?.(others);
  return rows;
}
