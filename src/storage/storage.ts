import type { ChangeStep } from "../contract/change.ts";
import type { MaybePromise } from "../timing/maybe-promise.ts";

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
  /** True for one that takes a lock: see `lockStatement`. */
  readonly locks?: true;
  /** True for one that reads rows of all shops: see `acrossShops`. */
  readonly acrossShops?: true;
  /** Only carries the type of the rows. */
  readonly row?: R;
}

export function statement<R extends Row = Row>(sql: string): Statement<R> {
  return { sql };
}

/**
 * A statement of background work that finds rows of all shops, the oldest first. It gives only the shop, what tells
 * the row, and its time; what is done about the row then names the shop.
 */
export function acrossShops<R extends Row = Row>(sql: string): Statement<R> {
  return { sql, acrossShops: true };
}

/**
 * A statement that updates the row which all transactions on the same data update first. One that begins with it runs
 * after those before it and sees all they did, so an engine need not look for conflicts between them.
 */
export function lockStatement<R extends Row = Row>(sql: string): Statement<R> {
  return { sql, locks: true };
}

/** What a row that is appended gets from its counter. */
export interface Appended extends Row {
  readonly id: bigint;
  /** Unix milliseconds, never less than that of the row before. */
  readonly at: bigint;
}

/**
 * Adding a row to a list: the row of a counter gives its id and time, and is locked by that. Two forms, because the
 * rows that one process adds at the same moment are one statement where each statement is a round trip.
 */
export interface Append {
  /** For engines in this process: takes time and list, gives what the row gets; no row where there is no such list. */
  readonly count: Statement<Appended>;
  /** Takes list, id, time and then the values. */
  readonly insert: Statement;
  /**
   * For engines across the network: takes time, list, the number of rows, and the rows as a JSON array of arrays of
   * values, integers in it as texts. Gives what the first row gets; the ids of the others follow it.
   */
  readonly insertAll: Statement<Appended>;
}

/** A step of a transaction: a statement that the engine runs, giving its rows back. */
export interface Step extends ChangeStep {
  readonly statement: Statement;
  readonly parameters: readonly SqlParameter[];
  /** True if the transaction ends behind it, and nothing that comes of it can undo it. */
  readonly isLast?: boolean;
  /** More parameters, with each of which the statement is run again; only the first run gives rows. */
  readonly more?: readonly (readonly SqlParameter[])[];
  /** The step adds a row: then `statement` is its `count`, and the parameters are those of `count` and the values. */
  readonly append?: Append;
}

/** A step of a transaction that runs nothing in the store: see `afterCommit`. */
interface AfterCommit extends ChangeStep {
  readonly afterCommit: () => void;
}

/**
 * The body of a transaction. It is a generator, so that one text serves an engine that runs each
 * step at once and one that has to wait for it. It must do nothing but steps and computation: an
 * engine may run it again. What else has to happen goes into `afterCommit`.
 */
export type Transaction<T> = Generator<Step | AfterCommit, T, readonly Row[]>;

/** Makes a step: its mark is a type only, and is given here and nowhere else. */
function step(parts: Omit<Step, keyof ChangeStep>): Step {
  return parts as Step;
}

/**
 * Inside a transaction, before its last step: has something done once its commit is on disk, before whoever waits for
 * it is told. It is done once, however often the body runs, and never if the transaction is rolled back or its commit
 * is not known. It must not throw: the transaction would seem to have failed.
 */
export function* afterCommit(action: () => void): Transaction<void> {
  yield { afterCommit: action } as AfterCommit;
}

/** Inside a transaction: runs the statement and gives all rows. */
export function* all<R extends Row>(text: Statement<R>, ...parameters: SqlParameter[]): Transaction<readonly R[]> {
  return (yield step({ statement: text, parameters })) as readonly R[];
}

/** Inside a transaction: runs the statement and gives its first row, if there is one. */
export function* first<R extends Row>(text: Statement<R>, ...parameters: SqlParameter[]): Transaction<R | undefined> {
  return (yield step({ statement: text, parameters }))[0] as R | undefined;
}

/**
 * The last step of a transaction: runs the statement and gives its first row, if there is one. What
 * follows it may compute, but neither throw nor go on with another step. An engine across the network
 * sends it together with the commit, and one that is also the first together with those of others.
 */
export function* final<R extends Row>(text: Statement<R>, ...parameters: SqlParameter[]): Transaction<R | undefined> {
  return (yield step({ statement: text, parameters, isLast: true }))[0] as R | undefined;
}

/**
 * The last step of a transaction: adds a row to a list, and gives what it got from the list's counter; undefined where
 * there is no such list. `now` is in unix milliseconds.
 */
export function* append(
  to: Append,
  list: number,
  now: number,
  ...values: SqlParameter[]
): Transaction<Appended | undefined> {
  const parameters = [now, list, ...values];
  return (yield step({ statement: to.count, parameters, isLast: true, append: to }))[0] as Appended | undefined;
}

/** Inside a transaction: runs the statement with each of the lists of parameters. */
export function* each(text: Statement, lists: readonly (readonly SqlParameter[])[]): Transaction<void> {
  const [parameters, ...more] = lists;
  if (parameters) yield step({ statement: text, parameters, more });
}

/** Part of another transaction: runs one that may have ended with `final`, and goes on behind it. */
export function* nested<T>(part: Transaction<T>): Transaction<T> {
  let next = part.next([]);
  while (!next.done) {
    const { value } = next;
    if ("afterCommit" in value) {
      next = part.next(yield value);
      continue;
    }
    const { isLast: _, ...goingOn } = value;
    next = part.next(yield step(goingOn));
  }
  return next.value;
}

/** One run of the body of a transaction, by an engine. */
export class Run<T> {
  readonly #body: Transaction<T>;
  /** What the body wants done after the commit: most want nothing. */
  #actions: (() => void)[] | undefined;
  #next: IteratorResult<Step | AfterCommit, T>;

  /** Runs the body up to its first statement. Throws what the body throws. */
  constructor(body: () => Transaction<T>) {
    this.#body = body();
    this.#next = this.#body.next([]);
    this.#collect();
  }

  /** The statement that the body waits for; undefined behind its end. */
  get step(): Step | undefined {
    return this.#next.done ? undefined : (this.#next.value as Step);
  }

  /** True if something is to be done after the commit, as far as the body has run. */
  get hasActions(): boolean {
    return this.#actions !== undefined;
  }

  /** Gives the body the rows of its statement. Throws what the body throws. */
  advance(rows: readonly Row[]): void {
    const { isLast } = this.step as Step;
    this.#next = this.#body.next(rows);
    if (isLast && !this.#next.done) throw new TypeError("A transaction went on behind its last step.");
    this.#collect();
  }

  /** Has to be called once the commit is on disk, behind the end of the body: does what it wants done, and gives its value. */
  finish(): T {
    if (!this.#next.done) throw new TypeError("A transaction was finished before its end.");
    if (this.#actions) for (const act of this.#actions) act();
    return this.#next.value;
  }

  #collect(): void {
    while (!this.#next.done && "afterCommit" in this.#next.value) {
      (this.#actions ??= []).push(this.#next.value.afterCommit);
      this.#next = this.#body.next([]);
    }
  }
}

/** A table for rows that are to be brought into the store. */
export interface StagedTable {
  readonly name: string;
  /** What its columns hold, in order. The first one is the key, and cannot be null. */
  readonly columns: Readonly<Record<string, "integer" | "text">>;
}

/**
 * Rows beside the store, as many as the disk holds. Filling it holds up nobody who uses the store, and
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

/** A store of rows. Every engine passes the suite in `conformance.ts`. */
export interface Storage {
  /**
   * True if `onForeignWrite` and `catchUp` tell of every write of another process, before anything that
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
  /** Makes a table beside the store, to bring many rows into it in few transactions. */
  stage(table: StagedTable): MaybePromise<Stage>;
  /** Calls back soon (within 1 s) after another process has changed accounts or keys, or anything: see `noticesEveryWrite`. */
  onForeignWrite(listener: () => void): void;
  /**
   * Calls back now if another process has changed the store: what is remembered of the store is exact
   * after it, for every request that was read in this turn of the event loop. Returns false if it is not: a
   * commit of this process can be read already, but what was to be done after it is not done yet.
   */
  catchUp(): boolean;
  /**
   * True if this process is, for the next seconds, the one of all processes on the store that does what
   * has to be done once. It has to be asked again and again; when it no longer asks, another one is chosen
   * within seconds. Two may believe it for a moment, so nothing may depend on there being one. Throws
   * `StorageUnavailable`.
   */
  lead(): MaybePromise<boolean>;
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

/** The answer to a commit is missing: the work may have been kept, or not. */
export class CommitUnknown extends StorageUnavailable {}

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
