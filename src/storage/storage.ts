import type { MaybePromise } from "../timing/maybe-promise.ts";
import type { Row, SqlParameter, Statement } from "./statement.ts";
import type { Transaction } from "./transaction.ts";

/** A table for rows that are to be brought into the store. */
export interface StagedTable {
  readonly name: string;
  /** What its columns hold, in order. The first one is the key, and cannot be null. */
  readonly columns: Readonly<Record<string, "integer" | "text">>;
}

/**
 * Rows next to the store, as many as the disk holds. Filling it holds up nobody who uses the store, and
 * nobody else sees it. It is gone when it is closed, and with the process, however that ends.
 */
export interface Stage {
  /** Adds rows, each the values of all columns. Fails with `StorageUnavailable`; then none was added. */
  add(rows: readonly (readonly SqlParameter[])[]): MaybePromise<void>;
  /** As `Storage.all`, with statements that may also name the staged table. */
  all<R extends Row>(statement: Statement<R>, ...parameters: SqlParameter[]): MaybePromise<R[]>;
  /** As `Storage.write`, with statements that may also name the staged table. */
  write<T>(body: () => Transaction<T>): Promise<T>;
  close(): Promise<void>;
}

/** A store of rows. Every engine passes the suites in `test/conformance/`. */
export interface Storage {
  /**
   * True if `onForeignWrite` and `catchUp` report every write of another process, before anything that
   * it makes wrong could be given from memory. Otherwise they tell, within a second, of changes of
   * accounts and keys, and nothing else may be remembered.
   */
  readonly noticesEveryWrite: boolean;
  /** All rows of a read. Throws `StorageUnavailable`. */
  all<R extends Row>(statement: Statement<R>, ...parameters: SqlParameter[]): MaybePromise<R[]>;
  /** First row of a read, if there is one. Throws `StorageUnavailable`. */
  first<R extends Row>(statement: Statement<R>, ...parameters: SqlParameter[]): MaybePromise<R | undefined>;
  /**
   * All rows of a read, some hundred at a time, as they were at the moment of the first, however long
   * it takes to use them. Throws `StorageUnavailable`.
   */
  stream<R extends Row>(statement: Statement<R>, ...parameters: SqlParameter[]): AsyncIterable<readonly R[]>;
  /**
   * Runs a transaction. Resolves after its commit is on disk; rejects when nothing of it was kept:
   * with what the body threw, or with `StorageUnavailable`; only with `CommitUnknown` that is not known. Transactions that wait at the same
   * moment may share one commit; each still succeeds or fails for itself, unless the commit fails.
   */
  write<T>(body: () => Transaction<T>): Promise<T>;
  /** Makes a table next to the store, to bring many rows into it in few transactions. */
  stage(table: StagedTable): MaybePromise<Stage>;
  /** Calls back soon (within 1 s) after another process has changed accounts or keys, or anything: see `noticesEveryWrite`. */
  onForeignWrite(listener: () => void): void;
  /** Calls back after each commit of this process, once it is on disk. It must not throw. */
  onCommit(listener: () => void): void;
  /**
   * Resolves once all that could be read before is on disk, so that no crash takes it back; at once where it is. Rejects
   * with `StorageUnavailable` where that is not known. What another process has written may be excepted.
   */
  settled(): MaybePromise<void>;
  /** Resolves once all processes on the store were told of the changes of accounts and keys that are committed now. */
  keyChangesKnown(): Promise<void>;
  /**
   * Calls back now if another process has changed the store: what is remembered of the store is exact
   * after it, for every request that was read in this turn of the event loop. Returns false if it is not: a
   * commit of this process can be read already, but what was to be done after it is not done yet.
   */
  catchUp(): boolean;
  /**
   * True if this process is, for the next seconds, the one of all processes on the store that does what
   * must be done once. It must be asked again and again; when it no longer asks, another one is chosen
   * within seconds. Two may believe it for a moment, so nothing may depend on there being one. Throws
   * `StorageUnavailable`.
   */
  lead(): MaybePromise<boolean>;
  /**
   * Removes the traces of rows that were deleted, as far as the engine can. Resolves with false where somebody is in
   * the way: then it must be called again.
   */
  scrub(): Promise<boolean>;
  /** Proves that the store can be read and written. Rejects with `StorageUnavailable`. */
  probe(): Promise<void>;
  /** Commits what still waits, then closes. */
  close(): Promise<void>;
}

/** What an engine reports while it works. */
export interface StorageObserver {
  /** After each commit: its length in seconds and how many transactions shared it. */
  committed(seconds: number, transactions: number): void;
  /** Work has failed, by the engine's name of the cause. Its caller gets the error too. */
  failed(cause: string): void;
  /** What the engine does by itself (`open the store`) has failed. It will try again. */
  postponed(work: string, error: Error): void;
  /** The engine must not continue (a failed sync, a damaged file): the process must end. */
  fatal(error: Error): void;
}

/** Takes no notice. */
export const silentObserver: StorageObserver = {
  committed: () => {},
  failed: () => {},
  postponed: () => {},
  fatal: () => {},
};
