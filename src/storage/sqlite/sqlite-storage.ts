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
import { Connection } from "./connection.ts";
import { APPLICATION_ID, asStorageError, openDatabase, sqliteCode } from "./database.ts";
import { GroupCommit } from "./group-commit.ts";
import { WalFile } from "./wal-file.ts";

/** How often the store is asked whether another process has written, in milliseconds. */
const FOREIGN_WRITE_POLL = 250;

/** After these, what is on disk is not known: going on would risk data. */
const fatalCodes = /^SQLITE_(IOERR_FSYNC|IOERR_DIR_FSYNC|CORRUPT|NOTADB)/;

/** What is acknowledged is on disk all the same: `GroupCommit` syncs the log, on another thread. */
const leaveSyncsToUs: Statement = { sql: "PRAGMA synchronous = NORMAL" };
const begin: Statement = { sql: "BEGIN" };
const end: Statement = { sql: "COMMIT" };
const dataVersion: Statement = { sql: "PRAGMA data_version" };
/** A write that changes nothing, but needs a disk with room. It writes the same in every release. */
const rewriteMark: Statement = { sql: `PRAGMA application_id = ${APPLICATION_ID}` };

const silentObserver: StorageObserver = { committed: () => {}, fatal: () => {} };

/**
 * The embedded engine: one connection, reads at once on the calling thread, writes in group commits.
 *
 * All reads of one turn of the event loop share one read transaction: its locks cost several times
 * more than finding a row.
 */
export class SqliteStorage implements Storage {
  readonly #connection: Connection;
  readonly #log: WalFile;
  readonly #observer: StorageObserver;
  readonly #writes: GroupCommit;
  readonly #listeners: (() => void)[] = [];
  readonly #poll: Timer;
  #closed = false; // no more writes
  #ended = false; // no more reads
  #dataVersion: unknown;
  /** True from the first read in a turn of the event loop to its end, or to the next commit. */
  #reading = false;
  #hasRead = false; // since the last group of writes

  /** Opens the store in `file`. Throws `StorageUnusable`. */
  constructor(file: string, observer: StorageObserver = silentObserver, busyTimeout = 1) {
    this.#connection = new Connection(openDatabase(file, busyTimeout));
    this.#log = new WalFile(file);
    this.#connection.run(leaveSyncsToUs);
    this.#observer = observer;
    this.#writes = new GroupCommit({
      connection: this.#connection,
      log: this.#log,
      observer,
      prepare: () => this.#beforeWrites(),
      report: (error) => this.#report(error),
      reportUnsynced: (error) => this.#reportUnsynced(error),
    });
    this.#dataVersion = this.#readDataVersion();
    this.#poll = setInterval(() => this.#look(), FOREIGN_WRITE_POLL);
    this.#poll.unref();
  }

  all<R extends Row>(statement: Statement<R>, ...parameters: SqlParameter[]): R[] {
    try {
      this.#beginRead();
      return this.#connection.all(statement, parameters) as R[];
    } catch (error) {
      throw this.#report(error);
    }
  }

  first<R extends Row>(statement: Statement<R>, ...parameters: SqlParameter[]): R | undefined {
    try {
      this.#beginRead();
      return this.#connection.first(statement, parameters) as R | undefined;
    } catch (error) {
      throw this.#report(error);
    }
  }

  write<T>(body: () => Transaction<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new StorageUnavailable("The store is closed."));
    return this.#writes.add(body);
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
    await this.#writes.drained();
    this.#endRead();
    this.#ended = true;
    this.#log.close();
    this.#connection.close();
  }

  /**
   * Begins the read transaction of this turn of the event loop, unless one is open: the state of the
   * store that it sees, also of what other processes wrote, is the one of this moment.
   */
  #beginRead(): void {
    if (this.#reading || this.#ended) return;
    this.#connection.run(begin);
    this.#reading = true;
    this.#hasRead = true;
    setImmediate(this.#endRead);
    try {
      this.#noticeForeignWrites();
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
      if (this.#connection.inTransaction) this.#connection.run(end);
    } catch (error) {
      this.#report(error);
    }
  };

  /** Returns true if nobody has read since the last group of writes. */
  #beforeWrites(): boolean {
    this.#endRead();
    const isQuiet = !this.#hasRead;
    this.#hasRead = false;
    return isQuiet;
  }

  /** Looks for writes of other processes although nobody reads. */
  #look(): void {
    try {
      this.#beginRead();
    } catch (error) {
      this.#report(error); // whoever reads next is told
    }
  }

  #noticeForeignWrites(): void {
    const version = this.#readDataVersion();
    if (version === this.#dataVersion) return;
    this.#dataVersion = version;
    for (const listener of this.#listeners) listener();
  }

  /** A number that changes when another connection has changed the store. */
  #readDataVersion(): unknown {
    return this.#connection.first(dataVersion, [])?.["data_version"];
  }

  /** After a failed sync nobody knows what is on disk, and no later sync tells. */
  #reportUnsynced(error: Error): unknown {
    const reported = new StorageUnavailable(error.message, { cause: error });
    this.#observer.fatal(reported);
    return reported;
  }

  #report(error: unknown): unknown {
    if (this.#ended) return new StorageUnavailable("The store is closed.", { cause: error });
    const reported = asStorageError(error);
    if (fatalCodes.test(sqliteCode(error))) this.#observer.fatal(reported as Error);
    return reported;
  }
}
