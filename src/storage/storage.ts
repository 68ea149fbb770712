import type { MaybePromise } from "../maybe-promise.ts";

/** What a column can hold. Every integer is a bigint, so that 64-bit values stay exact. */
export type SqlValue = string | bigint | null;
/** What a parameter can be. A number has to be an integer. */
export type SqlParameter = SqlValue | number;
export type Row = Record<string, SqlValue>;

/**
 * One SQL statement, in the part of SQL that all engines share. Parameters are written `$1`, `$2`, …,
 * appear for the first time in this order and are given by position.
 */
export interface Statement<R extends Row = Row> {
  readonly sql: string;
  /** Only carries the type of the rows. */
  readonly row?: R;
}

export function statement<R extends Row = Row>(sql: string): Statement<R> {
  return { sql };
}

/** One step of a transaction: a statement that the engine runs, giving its rows back. */
export interface Step {
  readonly statement: Statement;
  readonly parameters: readonly SqlParameter[];
}

/**
 * The body of a transaction. It is a generator, so that one text serves an engine that runs each
 * step at once and one that has to wait for it. It must do nothing but steps and computation: an
 * engine may run it again.
 */
export type Transaction<T> = Generator<Step, T, readonly Row[]>;

/** Inside a transaction: runs the statement and gives all rows. */
export function* all<R extends Row>(text: Statement<R>, ...parameters: SqlParameter[]): Transaction<readonly R[]> {
  return (yield { statement: text, parameters }) as readonly R[];
}

/** Inside a transaction: runs the statement and gives its first row, if there is one. */
export function* first<R extends Row>(text: Statement<R>, ...parameters: SqlParameter[]): Transaction<R | undefined> {
  return (yield { statement: text, parameters })[0] as R | undefined;
}

/** A store of rows. Every engine passes the suite in `conformance.ts`. */
export interface Storage {
  /** All rows of a read. Throws `StorageUnavailable`. */
  all<R extends Row>(statement: Statement<R>, ...parameters: SqlParameter[]): MaybePromise<R[]>;
  /** First row of a read, if there is one. Throws `StorageUnavailable`. */
  first<R extends Row>(statement: Statement<R>, ...parameters: SqlParameter[]): MaybePromise<R | undefined>;
  /**
   * Runs a transaction. Resolves after its commit is on disk; rejects when nothing of it was kept:
   * with what the body threw, or with `StorageUnavailable`. Transactions that wait at the same
   * moment may share one commit; each still succeeds or fails for itself, unless the commit fails.
   */
  write<T>(body: () => Transaction<T>): Promise<T>;
  /** Calls back soon (within 0.5 s) after another process has changed the store. */
  onForeignWrite(listener: () => void): void;
  /**
   * Calls back now if another process has changed the store: what is remembered of the store is exact
   * after it, for every request that was read in this turn of the event loop.
   */
  catchUp(): void;
  /** Proves that the store can be read and written. Rejects with `StorageUnavailable`. */
  probe(): Promise<void>;
  /** Commits what still waits, then closes. */
  close(): Promise<void>;
}

/** The store cannot be read or written now. Nothing of the work that failed with it was kept. */
export class StorageUnavailable extends Error {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options);
    this.name = "StorageUnavailable";
  }
}

/** The store cannot be used at all: a clear reason for the operator, who has to act. */
export class StorageUnusable extends Error {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options);
    this.name = "StorageUnusable";
  }
}

/** What an engine reports while it works. */
export interface StorageObserver {
  /** After each commit: its length in seconds and how many transactions shared it. */
  committed(seconds: number, transactions: number): void;
  /** Work has failed, by the engine's name of the cause. Whoever waits for it is told as well. */
  failed(cause: string): void;
  /** What the engine does by itself (`open the store`) has failed. It will try again. */
  postponed(work: string, error: Error): void;
  /** The engine must not go on (a failed sync, a damaged file): the process has to end. */
  fatal(error: Error): void;
}

/** Takes no notice. */
export const silentObserver: StorageObserver = {
  committed: () => {},
  failed: () => {},
  postponed: () => {},
  fatal: () => {},
};
