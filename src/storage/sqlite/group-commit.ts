import { Run } from "../run.ts";
import type { Append, Counted, Row, Statement } from "../statement.ts";
import type { StorageObserver } from "../storage.ts";
import type { Step, Transaction } from "../transaction.ts";
import type { Connection } from "./connection.ts";
import { sqliteCode } from "./database.ts";
import type { WalFile } from "./wal-file.ts";

/** How long a write waits for a lock that another process holds, in milliseconds. */
const LOCK_DEADLINE = 5_000;
const LOCK_RETRY = 5;
/** Transactions in one commit: a bound on how long one of them can block the others. */
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

/** How the transaction of one member of a group ended. */
interface Verdict {
  /** Tells the member, once that is on disk. */
  readonly tell: () => void;
  /** True if something is to be done before. */
  readonly hasActions: boolean;
}

/** What the queue needs of its store. */
export interface GroupCommitOptions {
  readonly connection: Connection;
  readonly log: WalFile;
  /** Begins the transaction of a group. Returns true if nobody has read lately. */
  readonly begin: () => boolean;
  /** Called after each commit that is on disk: its length in seconds and how many transactions shared it. */
  readonly committed: StorageObserver["committed"];
  /** The error to tell for one that was thrown. */
  readonly report: (error: unknown) => unknown;
  /** The error to tell when the log could not be synced. */
  readonly reportUnsynced: (error: Error) => unknown;
}

/**
 * The queue of writes. All transactions that arrive in one turn of the event loop, or while the disk
 * syncs the commit before, share one commit and one sync, which costs a hundred times more than a
 * row. Each still succeeds or fails for itself, unless the commit or the sync fails; nobody is told
 * of success before the sync has ended.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #waiting: Waiting[] = [];
  #scheduled = false;
  /** The group that is committed, but perhaps not yet on disk. */
  #syncing: readonly Waiting[] = [];
  /** Set while somebody waits for the sync. */
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

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    if (!this.#isIdle) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** True while a commit can be read after which something is to be done that is not done yet. */
  get hasActions(): boolean {
    return this.#hasActions;
  }

  /** Resolves once the commits that can be read now are on disk; undefined where they are. Rejects with the error of the sync. */
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
    // setImmediate: requests that are already readable join the group before it is committed.
    if (delay > 0) setTimeout(commitNow, delay);
    else setImmediate(commitNow);
  }

  #commitGroup(): void {
    const { connection, log, begin, committed, report, reportUnsynced } = this.#options;
    const members = this.#waiting.slice(0, GROUP_SIZE);
    const started = performance.now();
    let verdicts: Verdict[];
    let isQuiet: boolean;
    try {
      isQuiet = begin();
      verdicts = this.#runTogether(members) ?? this.#runApart(members);
      connection.run(commit);
    } catch (error) {
      if (connection.inTransaction) connection.run(rollback);
      if (sqliteCode(error).startsWith("SQLITE_BUSY")) return this.#waitForLock(error, started);
      refuse(members, report(error));
      return this.#leave(members);
    }
    this.#syncing = members;
    this.#hasActions = verdicts.some(({ hasActions }) => hasActions);
    this.#leave(members);
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
        for (const { tell } of verdicts) tell();
        this.#hasActions = false;
        settled?.resolve();
      }
      this.#next();
    };
    // Handing the sync over lets others continue. Where there are none, it would only take time.
    if (isQuiet && members.length === 1) synced(attempt(() => log.syncHere()));
    else log.sync(synced);
  }

  /** Runs all members. If one throws, nothing is kept, and undefined says that they must run apart. */
  #runTogether(group: readonly Waiting[]): Verdict[] | undefined {
    const { connection, begin } = this.#options;
    try {
      const runs = group.map(({ body }) => new Run(body));
      for (let index = 0, alike = 0; index < runs.length; index += alike) {
        alike = alikeFrom(runs, index);
        if (alike > 1) advanceTogether(connection, runs.slice(index, index + alike));
        else runToEnd(connection, runs[index] as Run<unknown>);
      }
      return runs.map((run, index) => verdictOf(run, group[index] as Waiting));
    } catch {
      if (connection.inTransaction) connection.run(rollback);
      begin();
      return undefined;
    }
  }

  /** Runs each member behind a savepoint: what it throws undoes this member alone. */
  #runApart(group: readonly Waiting[]): Verdict[] {
    const { connection, report } = this.#options;
    return group.map((waiting) => {
      connection.run(savepoint);
      try {
        const run = new Run(waiting.body);
        runToEnd(connection, run);
        connection.run(release);
        return verdictOf(run, waiting);
      } catch (error) {
        // A full disk or a failed write has already undone the whole transaction: all members fail.
        if (!connection.inTransaction) throw error;
        connection.run(undo);
        connection.run(release);
        const reported = report(error);
        return { tell: () => waiting.reject(reported), hasActions: false };
      }
    });
  }

  /** Takes a group out of the queue, and continues with those that came after it. */
  #leave(members: readonly Waiting[]): void {
    this.#waiting = this.#waiting.slice(members.length);
    this.#next();
  }

  /** Another process holds the write lock: those who waited too long are told, the others retry. */
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

function runToEnd(connection: Connection, run: Run<unknown>): void {
  for (let step = run.step; step; step = run.step) run.advance(runStep(connection, step));
}

/** Runs to their end what begins with appending to the same list. */
function advanceTogether(connection: Connection, runs: readonly Run<unknown>[]): void {
  const rows = appendRows(
    connection,
    runs.map(({ step }) => step as Step),
  );
  for (const [index, run] of runs.entries()) {
    run.advance(rows[index] as Row[]);
    runToEnd(connection, run);
  }
}

function verdictOf(run: Run<unknown>, { resolve, reject }: Waiting): Verdict {
  const tell = () => {
    try {
      resolve(run.finish());
    } catch (error) {
      reject(error); // the others are told all the same
    }
  };
  return { tell, hasActions: run.hasActions };
}

/** Returns the rows of the step. */
function runStep(connection: Connection, step: Step): Row[] {
  const { statement, parameters, more, takeMore, append } = step;
  if (append) return appendRows(connection, [step])[0] ?? [];
  const rows = connection.all(statement, parameters);
  const others = more?.map((other) => connection.all(other.statement, other.parameters));
  if (others) takeMore?.(others);
  return rows;
}

/** Adds the rows of steps that append to the same list: counted by one statement. Returns the row of each step. */
function appendRows(connection: Connection, steps: readonly Step[]): Row[][] {
  const [first] = steps as readonly [Step, ...Step[]];
  const { count, insert, log } = first.append as Append;
  const list = first.parameters[1] as number;
  let now = 0;
  for (const step of steps) now = Math.max(now, Number(step.parameters[0]));
  const counted = connection.first(count, [now, steps.length, list]) as Counted | undefined;
  if (!counted) return steps.map(() => []);
  let { id, log_id } = counted;
  const { at } = counted;
  return steps.map(({ parameters, logged = [] }) => {
    const row: Counted = { id: id++, at, log_id: log_id++ };
    connection.all(insert, [list, row.id, at, ...parameters.slice(2)]);
    connection.all(log, [list, row.id, at, row.log_id, ...logged]);
    return [row];
  });
}

/** How many of the runs, from number `from` on, append to the same list one after another; at least 1. */
function alikeFrom(runs: readonly Run<unknown>[], from: number): number {
  const step = runs[from]?.step;
  let end = from + 1;
  if (step?.append) while (end < runs.length && isAlike(step, runs[end]?.step)) end++;
  return end - from;
}

function isAlike(one: Step, other: Step | undefined): boolean {
  return one.append === other?.append && one.parameters[1] === other?.parameters[1];
}

function refuse(members: readonly Waiting[], error: unknown): void {
  for (const { reject } of members) reject(error);
}

/** What the action threw; null if it did not. */
function attempt(action: () => void): unknown {
  try {
    action();
    return null;
  } catch (error) {
    return error;
  }
}
