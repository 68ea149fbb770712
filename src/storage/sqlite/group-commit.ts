import type { Payer } from "../../timing/turns.ts";
import type { StorageObserver } from "../storage.ts";
import type { Change } from "../transaction.ts";
import { commit, rollback } from "./connection.ts";
import { isBusy } from "./database.ts";
import { type RunGroupOptions, runGroup, type Settle, type Waiting } from "./run-group.ts";
import type { WalFile } from "./store-files.ts";
import { WaitingByPayer } from "./waiting-by-payer.ts";

/** How long a write waits for a lock that another process holds, in milliseconds. */
const LOCK_DEADLINE = 5_000;
const LOCK_RETRY = 5;
/**
 * How many turns of the event loop a group waits after the sync of the one before: clients that were answered then send
 * their next requests, which join it. A commit of 50 transactions writes fewer pages than two of 25.
 */
const TURNS_AFTER_SYNC = 3;
/** The maximum number of transactions in one commit. Few reach it: see `runGroup`. */
const GROUP_SIZE = 512;

/** A committed group that is not on disk yet. */
interface CommittedGroup {
  readonly members: readonly Waiting[];
  readonly settle: readonly Settle[];
  /** When its transaction began: `performance.now()`. */
  readonly started: number;
}

export interface GroupCommitOptions extends RunGroupOptions {
  /** The write-ahead log. */
  readonly wal: WalFile;
  /** Called at each commit, with its number of transactions. True if there were no recent reads but theirs. */
  readonly isQuietBut: (transactions: number) => boolean;
  /** Called when a commit is on disk, with its duration in seconds and its number of transactions. */
  readonly committed: StorageObserver["committed"];
  /** Called when syncing the write-ahead log has failed. Converts the error for the caller. */
  readonly syncFailed: (error: Error) => unknown;
}

/**
 * The queue of writes. Transactions that arrive in one turn of the event loop, or during the previous sync, share
 * one commit and one sync. A sync costs a hundred times more than a row. Each transaction still succeeds or fails
 * independently, unless the commit or the sync fails. None succeeds before its sync has ended.
 *
 * A group takes them shop by shop until its time is up. The rest form the next one, in which other shops come first.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #waiting = new WaitingByPayer<Waiting>();
  #isScheduled = false;
  /** True from a commit to the end of its sync. */
  #isSyncing = false;
  /** Set while a caller of `settled` waits for the sync. */
  #settled: PromiseWithResolvers<void> | undefined;
  #idle: (() => void)[] = [];

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** Resolves after the transaction's commit is on disk. */
  add<T>(body: () => Change<T>, payer: Payer): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.add({ body, payer, resolve: resolve as Waiting["resolve"], reject, since: performance.now() });
      this.#schedule();
    });
  }

  /** Resolves when the queue is empty and synced. */
  async drained(): Promise<void> {
    if (!this.#isIdle) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Resolves when all commits that reads can see now are on disk; undefined if they are. Rejects if the sync fails. */
  settled(): Promise<void> | undefined {
    if (!this.#isSyncing) return undefined;
    this.#settled ??= Promise.withResolvers();
    return this.#settled.promise;
  }

  get #isIdle(): boolean {
    return this.#waiting.isEmpty && !this.#isSyncing;
  }

  #schedule(turns = 1, delay = 0): void {
    if (this.#isScheduled || this.#isSyncing) return;
    this.#isScheduled = true;
    const commitIn = (left: number): void => {
      if (left > 0) {
        setImmediate(commitIn, left - 1); // requests that have already arrived join the group
        return;
      }
      this.#isScheduled = false;
      this.#commitGroup();
    };
    if (delay > 0) setTimeout(commitIn, delay, turns);
    else commitIn(turns);
  }

  #commitGroup(): void {
    const { connection, isQuietBut, report } = this.#options;
    const group = this.#waiting.next(GROUP_SIZE);
    // Decided before the group runs: a long transaction would make the last read look old.
    const isAlone = isQuietBut(group.length) && group.length === 1;
    const started = performance.now();
    let settle: readonly Settle[];
    try {
      settle = runGroup(group, this.#options);
      connection.run(commit);
    } catch (error) {
      if (connection.inTransaction) connection.run(rollback);
      if (isBusy(error)) return this.#waitForLock(error, started);
      this.#waiting.remove(group);
      refuse(group, report(error));
      return this.#continue();
    }
    const members = group.slice(0, settle.length);
    this.#waiting.remove(members);
    this.#sync({ members, settle, started }, isAlone);
  }

  /** A sync on another thread lets other requests continue. If `isAlone`, there are none: it would only add latency. */
  #sync(group: CommittedGroup, isAlone: boolean): void {
    const { wal } = this.#options;
    this.#isSyncing = true;
    if (isAlone)
      this.#synced(
        group,
        errorOf(() => wal.syncHere()),
      );
    else wal.sync((error) => this.#synced(group, error));
  }

  #synced({ members, settle, started }: CommittedGroup, error: unknown): void {
    this.#isSyncing = false;
    const settled = this.#settled;
    this.#settled = undefined;
    if (error) {
      const reported = this.#options.syncFailed(error as Error);
      refuse(members, reported);
      settled?.reject(reported);
    } else {
      this.#options.committed((performance.now() - started) / 1000, members.length);
      for (const each of settle) each();
      settled?.resolve();
    }
    this.#continue();
  }

  /** Another process held the write lock at `triedAt`. Transactions that waited too long fail; the others retry. */
  #waitForLock(error: unknown, triedAt: number): void {
    const late = this.#waiting.next().filter(({ since }) => triedAt - since > LOCK_DEADLINE);
    if (late.length > 0) {
      this.#waiting.remove(late); // the first of each shop
      refuse(late, this.#options.report(error));
    }
    this.#continue(LOCK_RETRY);
  }

  #continue(delay = 0): void {
    if (!this.#waiting.isEmpty) return this.#schedule(TURNS_AFTER_SYNC, delay);
    if (this.#isIdle) for (const resolve of this.#idle.splice(0)) resolve();
  }
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
