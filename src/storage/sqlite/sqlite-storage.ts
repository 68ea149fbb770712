import type { Database, Statement as SqliteStatement } from "bun:sqlite";
import {
  all,
  type Row,
  type SqlParameter,
  type Statement,
  type Storage,
  type StorageObserver,
  StorageUnavailable,
  type Transaction,
} from "../storage.ts";
import { APPLICATION_ID, asStorageError, openDatabase, sqliteCode } from "./database.ts";

/** How often the store is asked whether another process has written, in milliseconds. */
const FOREIGN_WRITE_POLL = 250;
/** How long a write waits for a lock that another process holds, in milliseconds. */
const LOCK_DEADLINE = 5_000;
const LOCK_RETRY = 5;
/** Transactions in one commit: a bound on how long one of them can block the others. */
const GROUP_SIZE = 512;

/** After these, what is on disk is not known: going on would risk data. */
const fatalCodes = /^SQLITE_(IOERR_FSYNC|IOERR_DIR_FSYNC|CORRUPT|NOTADB)/;

const beginRead: Statement = { sql: "BEGIN" };
const beginWrite: Statement = { sql: "BEGIN IMMEDIATE" };
const commit: Statement = { sql: "COMMIT" };
const dataVersion: Statement<{ data_version: bigint }> = { sql: "PRAGMA data_version" };
/** A write that changes nothing, but needs a disk with room. It writes the same in every release. */
const rewriteMark: Statement = { sql: `PRAGMA application_id = ${APPLICATION_ID}` };
const savepoint: Statement = { sql: "SAVEPOINT member" };
const release: Statement = { sql: "RELEASE member" };

const silentObserver: StorageObserver = { committed: () => {}, fatal: () => {} };

/** A transaction that waits for its commit. */
interface Waiting {
  readonly body: () => Transaction<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly since: number;
}

/**
 * The embedded engine: one connection, reads at once on the calling thread, writes in group commits.
 *
 * All transactions that arrive in one turn of the event loop share one commit, and so one sync of
 * the disk: the sync costs a hundred times more than a row. In the same way all reads of a turn
 * share one read transaction: its locks cost several times more than finding a row.
 */
export class SqliteStorage implements Storage {
  readonly #database: Database;
  readonly #observer: StorageObserver;
  readonly #prepared = new Map<Statement, SqliteStatement<Row, SqlParameter[]>>();
  readonly #listeners: (() => void)[] = [];
  readonly #poll: Timer;
  #waiting: Waiting[] = [];
  #scheduled = false;
  #closed = false; // no more writes
  #ended = false; // no more reads
  #idle: (() => void)[] = [];
  #dataVersion: bigint;
  /** True from the first read in a turn of the event loop to its end, or to the next commit. */
  #reading = false;

  /** Opens the store in `file`. Throws `StorageUnusable`. */
  constructor(file: string, observer: StorageObserver = silentObserver, busyTimeout = 1) {
    this.#database = openDatabase(file, busyTimeout);
    this.#observer = observer;
    this.#dataVersion = this.#readDataVersion();
    this.#poll = setInterval(() => this.#look(), FOREIGN_WRITE_POLL);
    this.#poll.unref();
  }

  all<R extends Row>(statement: Statement<R>, ...parameters: SqlParameter[]): R[] {
    try {
      this.#beginRead();
      return this.#prepare(statement).all(...parameters) as R[];
    } catch (error) {
      throw this.#report(error);
    }
  }

  first<R extends Row>(statement: Statement<R>, ...parameters: SqlParameter[]): R | undefined {
    try {
      this.#beginRead();
      return (this.#prepare(statement).get(...parameters) ?? undefined) as R | undefined;
    } catch (error) {
      throw this.#report(error);
    }
  }

  write<T>(body: () => Transaction<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new StorageUnavailable("The store is closed."));
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ body, resolve: resolve as Waiting["resolve"], reject, since: performance.now() });
      this.#schedule();
    });
  }

  onForeignWrite(listener: () => void): void {
    this.#listeners.push(listener);
  }

  catchUp(): void {
    try {
      this.#beginRead();
    } catch (error) {
      throw this.#report(error);
    }
  }

  async probe(): Promise<void> {
    await this.write(() => all(rewriteMark));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#poll);
    if (this.#waiting.length > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    this.#endRead();
    this.#ended = true;
    for (const prepared of this.#prepared.values()) prepared.finalize();
    this.#database.close();
  }

  #prepare(statement: Statement): SqliteStatement<Row, SqlParameter[]> {
    let prepared = this.#prepared.get(statement);
    if (!prepared) {
      prepared = this.#database.prepare<Row, SqlParameter[]>(statement.sql);
      this.#prepared.set(statement, prepared);
    }
    return prepared;
  }

  /**
   * Begins the read transaction of this turn of the event loop, unless one is open: the state of the
   * store that it sees, also of what other processes wrote, is the one of this moment.
   */
  #beginRead(): void {
    if (this.#reading || this.#ended) return;
    this.#prepare(beginRead).run();
    this.#reading = true;
    setImmediate(this.#endRead);
    try {
      this.#noticeForeignWrites(this.#readDataVersion());
    } catch (error) {
      this.#endRead();
      throw error;
    }
  }

  readonly #endRead = (): void => {
    if (!this.#reading) return;
    this.#reading = false;
    try {
      // An error that SQLite could not go on after has ended the transaction already.
      if (this.#database.inTransaction) this.#prepare(commit).run();
    } catch (error) {
      this.#report(error);
    }
  };

  #schedule(delay = 0): void {
    if (this.#scheduled) return;
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
    const group = this.#waiting.slice(0, GROUP_SIZE);
    const started = performance.now();
    let settle: (() => void)[];
    try {
      this.#endRead();
      this.#prepare(beginWrite).run();
      settle = group.map((waiting) => this.#runMember(waiting));
      this.#prepare(commit).run();
    } catch (error) {
      if (this.#database.inTransaction) this.#database.run("ROLLBACK");
      if (sqliteCode(error).startsWith("SQLITE_BUSY")) return this.#waitForLock(error, started);
      const unavailable = this.#report(error);
      const refuse = group.map(
        ({ reject }) =>
          () =>
            reject(unavailable),
      );
      return this.#settle(refuse);
    }
    this.#observer.committed((performance.now() - started) / 1000, group.length);
    this.#settle(settle);
  }

  /** Tells the members of the group how it ended, and goes on with those that came after it. */
  #settle(group: readonly (() => void)[]): void {
    this.#waiting = this.#waiting.slice(group.length);
    for (const tell of group) tell();
    this.#next();
  }

  /** Runs one member of a group. What it throws undoes this member alone, by its savepoint. */
  #runMember({ body, resolve, reject }: Waiting): () => void {
    this.#prepare(savepoint).run();
    try {
      const steps = body();
      let step = steps.next();
      while (!step.done) {
        step = steps.next(this.#prepare(step.value.statement).all(...step.value.parameters));
      }
      this.#prepare(release).run();
      const { value } = step;
      return () => resolve(value);
    } catch (error) {
      // A full disk or a failed write has already undone the whole transaction: all members fail.
      if (!this.#database.inTransaction) throw error;
      this.#database.run("ROLLBACK TO member");
      this.#prepare(release).run();
      const reported = this.#report(error);
      return () => reject(reported);
    }
  }

  /** Another process holds the write lock: those who waited too long are told, the others retry. */
  #waitForLock(error: unknown, now: number): void {
    const unavailable = asStorageError(error);
    this.#waiting = this.#waiting.filter(({ since, reject }) => {
      const late = now - since > LOCK_DEADLINE;
      if (late) reject(unavailable);
      return !late;
    });
    this.#next(LOCK_RETRY);
  }

  #next(delay = 0): void {
    if (this.#waiting.length > 0) return this.#schedule(delay);
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #report(error: unknown): unknown {
    if (this.#ended) return new StorageUnavailable("The store is closed.", { cause: error });
    const reported = asStorageError(error);
    if (fatalCodes.test(sqliteCode(error))) this.#observer.fatal(reported as Error);
    return reported;
  }

  /** Looks for writes of other processes although nobody reads. */
  #look(): void {
    try {
      this.#beginRead();
    } catch (error) {
      this.#report(error); // whoever reads next is told
    }
  }

  #readDataVersion(): bigint {
    return (this.#prepare(dataVersion).get() as { data_version: bigint }).data_version;
  }

  #noticeForeignWrites(version: bigint): void {
    if (version === this.#dataVersion) return;
    this.#dataVersion = version;
    for (const listener of this.#listeners) listener();
  }
}
