import type { ShopNumber } from "../contract/caller.ts";
import type { MaybePromise } from "../timing/maybe-promise.ts";
import type { Payer } from "../timing/turns.ts";
import type { QueryStatement, Row, Values } from "./statement.ts";
import type { Change, Read } from "./transaction.ts";

/** A store of rows, for what only reads it. */
export interface ReadableStorage {
  /** True if reads return values, not promises. Two cheap reads can then cost less than one expensive one. */
  readonly readsSynchronously: boolean;
  /**
   * Runs a read. Returns a promise if the engine is asynchronous or the read waits for something else (see `waitFor`).
   * Throws `StorageUnavailable`, or what the read throws. `payer` is charged for its time after a wait, and decides when it
   * goes on after a pause: see `Turns`.
   */
  read<T>(steps: Read<T>, payer?: Payer): MaybePromise<T>;
  /**
   * All rows of a read, in batches of some hundred, from one snapshot. It may block the thread. Throws
   * `StorageUnavailable`, also if the engine does not keep the snapshot for a consumer that pauses, or `StorageUnusable`.
   */
  stream<P extends Values, R extends Row>(
    statement: QueryStatement<P, R>,
    ...parameters: NoInfer<P>
  ): AsyncIterable<readonly R[]>;
}

/** A store of rows, as domains read and change it. */
export interface Storage extends ReadableStorage {
  /**
   * Runs a transaction. Resolves when its commit is on disk. Rejects with the error that the body threw, or with
   * `StorageUnavailable`; then nothing was changed. Two exceptions, in which the commit may have succeeded:
   * `CommitUnknown`, and a failed sync, which is fatal.
   *
   * Transactions that wait at the same time may share one commit. Each still succeeds or fails independently, unless
   * the commit fails. `payer` is charged for the time. Transactions of payers that have used their share of the event loop
   * come after those of others: see `Turns`.
   */
  write<T>(body: () => Change<T>, payer?: Payer): Promise<T>;
}

/** What a store knows of changes: its own, and those of other processes. */
export interface ChangesOfStore {
  /**
   * From now on, shows the follower what other processes have changed, within 1 s. A transaction may be open. There is one
   * follower: a second call replaces it.
   */
  follow(followed: Followed): void;
  /** Calls back when a commit of this process is on disk. The listener must not throw. */
  onCommit(listener: () => void): void;
  /**
   * Resolves when everything that reads have seen so far is on disk, so that no crash undoes it. Rejects with
   * `StorageUnavailable` if that is unknown. Commits of other processes may not be covered.
   */
  settled(): MaybePromise<void>;
  /** Resolves when all processes know of the changes that they follow and that are committed now. */
  changesPropagated(): Promise<void>;
  /**
   * A number that is raised when a transaction of this process with a `raisesVersion` statement for the shop commits,
   * and when another process has written anything. See `versions.ts` for what can be kept until then. Undefined if the engine does not learn of every write.
   */
  versionOf(shop: ShopNumber): number | undefined;
}

/** What keeps a store in order. */
export interface Upkeep {
  /**
   * True if this process leads for the next seconds: of all processes on the store, it does the work that one process
   * should do. Call it repeatedly. If the leader stops calling it, another process becomes the leader within seconds.
   * Two processes may lead for a moment, so correctness must not depend on a single leader. Throws
   * `StorageUnavailable`.
   */
  lead(): MaybePromise<boolean>;
  /**
   * Removes the remains of deleted rows, as far as the engine can. Resolves with false if another user of the store
   * prevents it; then call it again later.
   */
  scrub(): Promise<boolean>;
  /** Checks that the store can be read and written. Rejects with `StorageUnavailable`. */
  check(): Promise<void>;
  /** Commits the waiting transactions, then closes the store. */
  close(): Promise<void>;
}

/** An open store. Every engine passes the suites in `test/conformance/`. */
export interface OpenStorage extends Storage, ChangesOfStore, Upkeep {}

/** The state of a store that is not opened, as its engine knows it. */
export interface EngineState {
  /** The engine and its version. */
  readonly engine: string;
  /** The number of applied migrations, and the number that this release knows. */
  readonly schema: number;
  readonly knownSchema: number;
  /** How far the clock of the database server is ahead of this machine's, in milliseconds; undefined without a server. */
  readonly serverAhead: number | undefined;
}

/** Reads from such a store. Its schema must not be newer than this release. */
export type Look = <R extends Row>(query: QueryStatement<[], R>) => MaybePromise<readonly R[]>;

/** What a process follows of the changes of others. It must not use the store. */
export interface Followed {
  /** Reads what has changed after `last`. */
  readonly statement: QueryStatement<[after: bigint]>;
  /** The number of the last change that was read. */
  readonly last: bigint;
  /** Takes what the statement has returned. */
  take(rows: readonly Row[]): void;
  /** Changes may have been missed: anything may have changed, until the next `take` too. */
  miss(): void;
}

/** The events that an engine reports. */
export interface StorageObserver {
  /** A commit succeeded: its duration in seconds, and its number of transactions. */
  committed(seconds: number, transactions: number): void;
  /** Work failed. `cause` is the engine's error code. The caller gets the error too. */
  failed(cause: string): void;
  /** The engine's own work failed, such as `open_store`. The engine will try again. */
  postponed(work: string, error: Error): void;
  /** The engine must not continue, for example after a failed sync or with a damaged file. The process must end. */
  fatal(error: Error): void;
}

/** Ignores all events. */
export const silentObserver: StorageObserver = {
  committed: () => {},
  failed: () => {},
  postponed: () => {},
  fatal: () => {},
};
