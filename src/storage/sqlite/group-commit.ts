import { Run } from "../run.ts";
import type { Append, Counted, Row, SqlParameter, Statement } from "../statement.ts";
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
      return group.map((waiting) => this.#runMember(waiting));
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
        const verdict = this.#runMember(waiting);
        connection.run(release);
        return verdict;
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

  #runMember({ body, resolve, reject }: Waiting): Verdict {
    const { connection } = this.#options;
    const run = new Run(body);
    for (let step = run.step; step; step = run.step) {
      run.advance(runStep(connection, step));
    }
    const tell = () => {
      try {
        resolve(run.finish());
      } catch (error) {
        reject(error); // the others are told all the same
      }
    };
    return { tell, hasActions: run.hasActions };
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

/** Returns the rows of the step. */
function runStep(connection: Connection, step: Step): Row[] {
  const { statement, parameters, more, takeMore, append } = step;
  if (append) return appendRow(connection, append, step);
  const rows = connection.all(statement, parameters);
  const others = more?.map((other) => connection.all(other.statement, other.parameters));
  if (others) takeMore?.(others);
  return rows;
}

function appendRow(connection: Connection, { count, insert, log }: Append, { parameters, logged = [] }: Step): Row[] {
  const [now, list, ...values] = parameters as [number, number, ...SqlParameter[]];
  const counted = connection.first(count, [now, list]) as Counted | undefined;
  if (!counted) return [];
  const { id, at, log_id } = counted;
  connection.all(insert, [list, id, at, ...values]);
  connection.all(log, [list, id, at, log_id, ...logged]);
  return [counted];
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
