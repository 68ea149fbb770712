import type { Counted, Row, Statement } from "../statement.ts";
import type { StorageObserver } from "../storage.ts";
import { type AppendStep, latestTime, type Step, type Transaction } from "../transaction.ts";
import { TransactionRun } from "../transaction-run.ts";
import type { Connection } from "./connection.ts";
import { isBusy } from "./database.ts";
import type { WalFile } from "./wal-file.ts";

/** How long a write waits for a lock that another process holds, in milliseconds. */
const LOCK_DEADLINE = 5_000;
const LOCK_RETRY = 5;
/** The maximum number of transactions in one commit. It bounds how long one of them can block the others. */
const GROUP_SIZE = 512;

const commit: Statement = { sql: "COMMIT" };
const rollback: Statement = { sql: "ROLLBACK" };
const savepoint: Statement = { sql: "SAVEPOINT member" };
const release: Statement = { sql: "RELEASE member" };
const undo: Statement = { sql: "ROLLBACK TO member" };

/** A transaction that waits for its commit. */
interface Waiting {
  readonly body: () => Transaction<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly since: number;
}

/** The outcome of one member's transaction. */
interface MemberOutcome {
  /** Settles the member's promise. Called when the commit is on disk. */
  readonly settle: () => void;
  /** True if the transaction has `afterCommit` actions. */
  readonly hasActions: boolean;
}

export interface GroupCommitOptions {
  readonly connection: Connection;
  /** The write-ahead log. */
  readonly wal: WalFile;
  /** Begins the transaction of a group. */
  readonly begin: () => void;
  /** True if there were no recent reads. */
  readonly isQuiet: () => boolean;
  /** Called when a commit is on disk, with its duration in seconds and its number of transactions. */
  readonly committed: StorageObserver["committed"];
  /** Converts an error for the caller. */
  readonly report: (error: unknown) => unknown;
  /** Converts an error of syncing the write-ahead log for the caller. */
  readonly reportUnsynced: (error: Error) => unknown;
}

/**
 * The queue of writes. Transactions that arrive in one turn of the event loop, or during the previous sync, share
 * one commit and one sync. A sync costs a hundred times more than a row. Each transaction still succeeds or fails
 * independently, unless the commit or the sync fails. None succeeds before its sync has ended.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #waiting: Waiting[] = [];
  #scheduled = false;
  /** The committed group whose sync has not ended. */
  #syncing: readonly Waiting[] = [];
  /** Set while a caller of `settled` waits for the sync. */
  #synced: PromiseWithResolvers<void> | undefined;
  #hasActions = false;
  #idle: (() => void)[] = [];

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** Resolves after the transaction's commit is on disk. */
  add<T>(body: () => Transaction<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ body, resolve: resolve as Waiting["resolve"], reject, since: performance.now() });
      this.#schedule();
    });
  }

  /** Resolves when the queue is empty and synced. */
  async drained(): Promise<void> {
    if (!this.#isIdle) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** True while reads can see a commit whose `afterCommit` actions have not run. */
  get hasActions(): boolean {
    return this.#hasActions;
  }

  /** Resolves when all commits that reads can see now are on disk; undefined if they are. Rejects if the sync fails. */
  settled(): Promise<void> | undefined {
    if (this.#syncing.length === 0) return undefined;
    this.#synced ??= Promise.withResolvers();
    return this.#synced.promise;
  }

  get #isIdle(): boolean {
    return this.#waiting.length === 0 && this.#syncing.length === 0;
  }

  #schedule(delay = 0): void {
    if (this.#scheduled || this.#syncing.length > 0) return;
    this.#scheduled = true;
    const commitNow = () => {
      this.#scheduled = false;
      this.#commitGroup();
    };
    // setImmediate: requests that have already arrived join the group.
    if (delay > 0) setTimeout(commitNow, delay);
    else setImmediate(commitNow);
  }

  #commitGroup(): void {
    const { connection, wal, begin, committed, report, reportUnsynced } = this.#options;
    const members = this.#waiting.slice(0, GROUP_SIZE);
    const started = performance.now();
    let outcomes: MemberOutcome[];
    const isQuiet = this.#options.isQuiet();
    try {
      begin();
      outcomes = this.#runTogether(members) ?? this.#runApart(members);
      connection.run(commit);
    } catch (error) {
      if (connection.inTransaction) connection.run(rollback);
      if (isBusy(error)) return this.#waitForLock(error, started);
      refuse(members, report(error));
      return this.#dequeue(members);
    }
    this.#syncing = members;
    this.#hasActions = outcomes.some(({ hasActions }) => hasActions);
    this.#dequeue(members);
    const synced = (error: unknown): void => {
      this.#syncing = [];
      const settled = this.#synced;
      this.#synced = undefined;
      if (error) {
        const reported = reportUnsynced(error as Error);
        refuse(members, reported);
        settled?.reject(reported);
      } else {
        committed((performance.now() - started) / 1000, members.length);
        for (const { settle } of outcomes) settle();
        this.#hasActions = false;
        settled?.resolve();
      }
      this.#next();
    };
    // A sync on another thread lets other requests continue. Without other requests, it would only add latency.
    if (isQuiet && members.length === 1) synced(errorOf(() => wal.syncHere()));
    else wal.sync(synced);
  }

  /** Runs all members. If one throws, rolls all of them back and returns undefined: they must run separately. */
  #runTogether(group: readonly Waiting[]): MemberOutcome[] | undefined {
    const { connection, begin } = this.#options;
    try {
      const runs = group.map(({ body }) => new TransactionRun(body));
      for (let index = 0, alike = 0; index < runs.length; index += alike) {
        alike = alikeFrom(runs, index);
        if (alike > 1) advanceTogether(connection, runs.slice(index, index + alike));
        else runToEnd(connection, runs[index] as TransactionRun<unknown>);
      }
      return runs.map((run, index) => outcomeOf(run, group[index] as Waiting));
    } catch {
      if (connection.inTransaction) connection.run(rollback);
      begin();
      return undefined;
    }
  }

  /** Runs each member in a savepoint, so that an error undoes only that member. */
  #runApart(group: readonly Waiting[]): MemberOutcome[] {
    const { connection, report } = this.#options;
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

  /** Removes a group from the queue and continues with the rest. */
  #dequeue(members: readonly Waiting[]): void {
    this.#waiting = this.#waiting.slice(members.length);
    this.#next();
  }

  /** Another process holds the write lock. Transactions that waited too long fail; the others retry. */
  #waitForLock(error: unknown, now: number): void {
    const late = this.#waiting.filter(({ since }) => now - since > LOCK_DEADLINE);
    if (late.length > 0) {
      this.#waiting = this.#waiting.filter(({ since }) => now - since <= LOCK_DEADLINE);
      refuse(late, this.#options.report(error));
    }
    this.#next(LOCK_RETRY);
  }

  #next(delay = 0): void {
    if (this.#waiting.length > 0) return this.#schedule(delay);
    if (this.#isIdle) for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function runToEnd(connection: Connection, run: TransactionRun<unknown>): void {
  for (let step = run.step; step; step = run.step) run.advance(runStep(connection, step));
}

/** Runs transactions that all begin with the same append to the same shop. */
function advanceTogether(connection: Connection, runs: readonly TransactionRun<unknown>[]): void {
  const rows = appendRows(connection, runs.map(({ step }) => step as AppendStep) as [AppendStep, ...AppendStep[]]);
  for (const [index, run] of runs.entries()) {
    run.advance(rows[index] as Row[]);
    runToEnd(connection, run);
  }
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

/** Returns the rows of the step. */
function runStep(connection: Connection, step: Step): Row[] {
  if (step.append) return appendRows(connection, [step])[0] ?? [];
  const { statement, parameters, more, takeMore } = step;
  const rows = connection.all(statement, parameters);
  const others = more?.map((other) => connection.all(other.statement, other.parameters));
  if (others) takeMore?.(others);
  return rows;
}

/** Runs steps with the same append to the same shop. One statement reserves all their ids. Returns the row of each step. */
function appendRows(connection: Connection, steps: readonly [AppendStep, ...AppendStep[]]): Row[][] {
  const [{ append, shop }] = steps;
  const counted = connection.first(append.count, [latestTime(steps), steps.length, shop]) as Counted | undefined;
  if (!counted) return steps.map(() => []);
  let { id, log_id } = counted;
  const { at } = counted;
  return steps.map(({ values, logged }) => {
    const row: Counted = { id: id++, at, log_id: log_id++ };
    connection.all(append.insert, [shop, row.id, at, ...values]);
    connection.all(append.log, [shop, row.id, at, row.log_id, ...logged]);
    return [row];
  });
}

/** The number of consecutive runs from index `from` on with the same append to the same shop; at least 1. */
function alikeFrom(runs: readonly TransactionRun<unknown>[], from: number): number {
  const step = runs[from]?.step;
  let end = from + 1;
  if (step?.append) while (end < runs.length && isAlike(step, runs[end]?.step)) end++;
  return end - from;
}

function isAlike(one: AppendStep, other: Step | undefined): boolean {
  return one.append === other?.append && one.shop === other.shop;
}

function refuse(members: readonly Waiting[], error: unknown): void {
  for (const { reject } of members) reject(error);
}

/** Returns the error that the action threw; null if it threw none. */
function errorOf(action: () => void): unknown {
  try {
    action();
    return null;
  } catch (error) {
    return error;
  }
}
