import { type Payer, turns } from "../../timing/turns.ts";
import type { Appended, EngineSql, Row } from "../statement.ts";
import { type AppendStep, type StoreStep } from "../step.ts";
import { type Change, countParameters, isSameAppend, TransactionRun } from "../transaction.ts";
import { type Connection, rollback } from "./connection.ts";

const savepoint: EngineSql = { sql: "SAVEPOINT member" };
const release: EngineSql = { sql: "RELEASE member" };
const undo: EngineSql = { sql: "ROLLBACK TO member" };

/** The time after which a group takes no more members, in milliseconds. It bounds how long one blocks others. */
const MOST_TIME = 5;

/** A transaction that waits for its commit. */
export interface Waiting {
  readonly body: () => Change<unknown>;
  /** Who is charged for its time. */
  readonly payer: Payer;
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
 * Runs transactions of a group, in order, in one transaction, which it begins but does not end: first together, or if one
 * throws, each in a savepoint, so that its error undoes only itself. It stops after `MOST_TIME`, and returns one
 * `Settle` for each that it has run. Throws an error that undid all of them.
 */
export function runGroup(group: readonly Waiting[], options: RunGroupOptions): Settle[] {
  options.begin();
  return runTogether(group, options) ?? runApart(group, options);
}

/** If one throws, rolls all of them back, begins again and returns undefined. */
function runTogether(group: readonly Waiting[], options: RunGroupOptions): Settle[] | undefined {
  const { connection, begin } = options;
  try {
    return untilTimeIsUp(group, (from) => {
      const runs = beginNext(group, from);
      if (runs.length > 1) runAppends(options, runs);
      else runToEnd(options, runs[0]);
      return runs.map((run, index) => outcomeOf(run, group[from + index] as Waiting));
    });
  } catch {
    if (connection.inTransaction) connection.run(rollback);
    begin();
    return undefined;
  }
}

function runApart(group: readonly Waiting[], options: RunGroupOptions): Settle[] {
  const { connection, report } = options;
  return untilTimeIsUp(group, (index) => {
    const waiting = group[index] as Waiting;
    connection.run(savepoint);
    try {
      const run = new TransactionRun(waiting.body);
      runToEnd(options, run);
      connection.run(release);
      return [outcomeOf(run, waiting)];
    } catch (error) {
      // A full disk or a failed write has already undone the whole transaction: all members fail.
      if (!connection.inTransaction) throw error;
      connection.run(undo);
      connection.run(release);
      const reported = report(error);
      return [() => waiting.reject(reported)];
    }
  });
}

/** Runs one or more members at a time, from the one with the given index on. Their shops pay for it. */
function untilTimeIsUp(group: readonly Waiting[], runFrom: (index: number) => Settle[]): Settle[] {
  const settle: Settle[] = [];
  const since = performance.now();
  for (let time = 0; settle.length < group.length && time < MOST_TIME; ) {
    const { payer } = group[settle.length] as Waiting;
    settle.push(...runFrom(settle.length));
    time += turns.charge(payer, since);
  }
  return settle;
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

/** Begins the next member, with those after it that begin with the same append to the same shop. */
function beginNext(group: readonly Waiting[], from: number): [TransactionRun<unknown>, ...TransactionRun<unknown>[]] {
  const begin = (index: number) => new TransactionRun((group[index] as Waiting).body);
  const first = begin(from);
  const runs: [TransactionRun<unknown>, ...TransactionRun<unknown>[]] = [first];
  const { step } = first;
  if (!step || !("append" in step)) return runs;
  for (let index = from + 1; index < group.length; index++) {
    const next = begin(index);
    if (!isSameAppend(step, next.step)) break; // it will begin again: that has no effects
    runs.push(next);
  }
  return runs;
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
  if (!counted) return steps.length === 1 ? [[]] : steps.flatMap((step) => appendTogether(connection, [step]));
  let { id, log_id } = counted;
  const { at } = counted;
  const groups = new Map<bigint, number>();
  const rows = steps.map(({ row, logged, countedBy }) => {
    const appended: Appended = { id: id++, at, log_id: log_id++ };
    connection.all(append.insert, [shop, appended.id, at, ...row]);
    connection.all(append.log, [shop, appended.id, at, appended.log_id, ...logged]);
    groups.set(countedBy, (groups.get(countedBy) ?? 0) + 1);
    return [appended];
  });
  for (const [countedBy, size] of groups) connection.all(append.countGroup, [shop, countedBy, size]);
  return rows;
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
