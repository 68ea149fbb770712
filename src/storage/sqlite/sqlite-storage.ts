import type { MaybePromise } from "../../timing/maybe-promise.ts";
import { type Payer, turns } from "../../timing/turns.ts";
import { type Migration, newerSchema } from "../applied-migrations.ts";
import { StorageUnavailable } from "../errors.ts";
import type { ChangeStatement, EngineSql, QueryStatement, Row, Values } from "../statement.ts";
import type { StoreStep } from "../step.ts";
import { type Followed, type OpenStorage, type StorageObserver, silentObserver } from "../storage.ts";
import { all, type Change, type KnownSteps, type Read, requireNoRead, resumeRead } from "../transaction.ts";
import { beginImmediate, Connection, TurnRead } from "./connection.ts";
import { APPLICATION_ID, asStorageError, openDatabase, openWithoutMigrating, sqliteCode } from "./database.ts";
import { GroupCommit } from "./group-commit.ts";
import { Checkpoints, realStoreFile, StoreFiles, StoreFilesGone, WalFile } from "./store-files.ts";

/** How long a statement may block the thread while it waits for a lock, in milliseconds. */
const BUSY_TIMEOUT = 1;
/** How often to check for writes of other processes, in milliseconds. */
const OTHER_PROCESSES_POLL = 250;
/** How many versions of shops there are. Shops share one if the remainders of their numbers are equal. */
const VERSIONS = 4_096;

/** After these errors, the content of the disk is unknown. Continuing would risk data. */
const fatalCodes = /^SQLITE_(IOERR_FSYNC|IOERR_DIR_FSYNC|CORRUPT|NOTADB)/;

/** `GroupCommit` syncs the log before a commit is acknowledged. */
const syncOnlyAtCheckpoints: EngineSql = { sql: "PRAGMA synchronous = NORMAL" };
const readDataVersion: EngineSql = { sql: "PRAGMA data_version" };
const readSchemaVersion: EngineSql = { sql: "PRAGMA user_version" };
/** A write that changes nothing but needs free disk space. Every release writes the same value. */
const writeNothing: ChangeStatement = { sql: `PRAGMA application_id = ${APPLICATION_ID}`, kind: "change" };

/** Rows of a stream per batch. */
const BATCH = 500;

/**
 * The embedded engine. It has one connection. Reads run immediately on the calling thread; writes share group commits.
 */
export class SqliteStorage implements OpenStorage {
  readonly readsSynchronously = true;
  readonly #file: string;
  readonly #knownSchema: number;
  readonly #connection: Connection;
  readonly #wal: WalFile;
  readonly #observer: StorageObserver;
  readonly #files: StoreFiles;
  readonly #turnRead: TurnRead;
  readonly #writes: GroupCommit;
  readonly #checkpoints: Checkpoints;
  #followed: Followed | undefined;
  readonly #commitListeners: (() => void)[] = [];
  readonly #poll: Timer;
  /** True once writes are refused, because the store is being closed. */
  #isClosing = false;
  /** True once reads are refused too. */
  #isClosed = false;
  /** The fatal error after which no work is allowed. */
  #failure: StorageUnavailable | undefined;
  #dataVersion: unknown;
  readonly #versions = new Float64Array(VERSIONS);

  /** Opens the store at a path, which may be a link to its file. Throws `StorageUnusable`, such as if it is locked. */
  constructor(
    givenPath: string,
    migrations: readonly Migration[],
    observer: StorageObserver = silentObserver,
    mayMigrate = true,
  ) {
    const file = realStoreFile(givenPath);
    this.#file = file;
    this.#knownSchema = migrations.length;
    this.#connection = new Connection(openDatabase(file, BUSY_TIMEOUT, migrations, mayMigrate));
    this.#wal = new WalFile(file);
    this.#files = new StoreFiles(givenPath);
    this.#connection.run(syncOnlyAtCheckpoints);
    this.#observer = observer;
    this.#turnRead = new TurnRead({
      connection: this.#connection,
      begun: () => this.#noticeOtherProcesses(),
      failed: (error) => this.#report(error),
    });
    this.#checkpoints = new Checkpoints({
      connection: this.#connection,
      endRead: this.#turnRead.end,
      failed: (error) => this.#postpone(error),
    });
    this.#writes = new GroupCommit({
      connection: this.#connection,
      wal: this.#wal,
      begin: () => this.#beginWrite(),
      raise: (shop) => this.#raise(shop),
      isQuietBut: (transactions) => this.#turnRead.isQuietBut(transactions),
      committed: (seconds, transactions) => {
        observer.committed(seconds, transactions);
        this.#checkpoints.committed();
        for (const listener of this.#commitListeners) listener();
      },
      report: (error) => this.#report(error),
      syncFailed: (error) => this.#fail(new StorageUnavailable(error.message, { cause: error })),
    });
    this.#dataVersion = this.#readDataVersion();
    this.#poll = setInterval(() => this.#pollOtherProcesses(), OTHER_PROCESSES_POLL);
    this.#poll.unref();
  }

  read<T>(steps: Read<T>, payer?: Payer): MaybePromise<T> {
    return this.#read(steps as KnownSteps<T>, payer, undefined);
  }

  stream<P extends Values, R extends Row>(
    statement: QueryStatement<P, R>,
    ...parameters: NoInfer<P>
  ): AsyncGenerator<R[]> {
    return streamRows(this.#file, statement, parameters);
  }

  write<T>(body: () => Change<T>, payer?: Payer): Promise<T> {
    requireNoRead();
    if (this.#isClosing) return Promise.reject(new StorageUnavailable("The store is closed."));
    return this.#writes.add(body, payer);
  }

  follow(followed: Followed): void {
    this.#followed = followed;
    this.#readFollowed();
  }

  onCommit(listener: () => void): void {
    this.#commitListeners.push(listener);
  }

  settled(): MaybePromise<void> {
    if (this.#failure) throw this.#failure;
    return this.#writes.settled();
  }

  /** Every process checks for changes before it uses its cache, so there is nothing to wait for. */
  async changesPropagated(): Promise<void> {}

  versionOf(shop: number): number | undefined {
    try {
      this.#beginRead();
      return this.#versions[shop % VERSIONS];
    } catch (error) {
      throw this.#report(error);
    }
  }

  /** Only one process serves an embedded store. */
  lead(): boolean {
    return true;
  }

  async scrub(): Promise<boolean> {
    // When a write ends, no sync is running. The queue may never be empty: others may always be adding to it.
    await this.write(function* () {});
    return this.#checkpoints.truncate();
  }

  async check(): Promise<void> {
    await this.write(() => all(writeNothing));
  }

  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    clearInterval(this.#poll);
    await this.#writes.drained();
    this.#checkpoints.stop();
    this.#turnRead.end();
    this.#isClosed = true;
    this.#wal.close();
    this.#connection.close();
  }

  /** Runs a read from the step on whose result is given. Returns a promise only if the read waits. */
  #read<T>(steps: KnownSteps<T>, payer: Payer, result: unknown): MaybePromise<T> {
    try {
      let next = resumeRead(steps, result);
      while (!next.done) {
        const step = next.value;
        if ("waitsFor" in step) return step.waitsFor.then((found) => this.#goOn(steps, payer, found));
        if ("pauses" in step) return turns.pause(payer).then(() => this.#goOn(steps, payer, undefined));
        if ("afterCommit" in step) throw new TypeError("A read has no commit.");
        this.#beginRead();
        next = resumeRead(steps, this.#query(step));
      }
      return next.value;
    } catch (error) {
      throw this.#report(error);
    }
  }

  /** Continues a read after a wait. Before the first one, its caller is charged. */
  #goOn<T>(steps: KnownSteps<T>, payer: Payer, result: unknown): MaybePromise<T> {
    const since = performance.now();
    try {
      return this.#read(steps, payer, result);
    } finally {
      turns.charge(payer, since);
    }
  }

  #query(step: StoreStep): unknown {
    if ("group" in step) return step.group.map((one) => this.#query(one));
    if ("append" in step || step.statement.kind !== "query") throw new TypeError("A read cannot change the store.");
    return this.#connection.all(step.statement, step.parameters);
  }

  #beginRead(): void {
    if (this.#isClosed) return; // the statement then fails, and `#report` says why
    if (this.#failure) throw this.#failure;
    this.#turnRead.begin();
  }

  #beginWrite(): void {
    this.#turnRead.end();
    if (this.#failure) throw this.#failure;
    if (!this.#files.areInPlace())
      throw new StoreFilesGone(`The files of the store at ${this.#file} were moved or deleted.`);
    this.#connection.run(beginImmediate);
    this.#noticeOtherProcesses(); // the write lock excludes later ones
  }

  /** Checks for writes of other processes while there are no reads. */
  #pollOtherProcesses(): void {
    try {
      this.#beginRead();
    } catch (error) {
      this.#report(error); // the next read throws it too
    }
  }

  #noticeOtherProcesses(): void {
    const version = this.#readDataVersion();
    if (version === this.#dataVersion) return;
    const schema = Number(this.#connection.first(readSchemaVersion, [])?.["user_version"]);
    if (schema > this.#knownSchema) throw this.#fail(newerSchema(this.#file, schema, this.#knownSchema));
    this.#dataVersion = version;
    for (let index = 0; index < VERSIONS; index++) this.#raise(index);
    this.#readFollowed();
  }

  #readFollowed(): void {
    const followed = this.#followed;
    if (followed) followed.take(this.#connection.all(followed.statement, [followed.last]));
  }

  #raise(shop: number): void {
    this.#versions[shop % VERSIONS]! += 1;
  }

  /** A number that changes when another connection changes the store. */
  #readDataVersion(): unknown {
    return this.#connection.first(readDataVersion, [])?.["data_version"];
  }

  /** Converts an error for the caller. Ends all work if continuing would risk data. */
  #report(error: unknown): unknown {
    if (this.#isClosed) return new StorageUnavailable("The store is closed.", { cause: error });
    const code = error instanceof StoreFilesGone ? "SQLITE_READONLY_DBMOVED" : sqliteCode(error);
    if (code !== "") this.#observer.failed(code);
    const reported = asStorageError(error, this.#file);
    return fatalCodes.test(code) ? this.#fail(reported as Error) : reported;
  }

  #postpone(error: unknown): void {
    const reported = this.#report(error);
    if (!this.#isClosed && !this.#failure) this.#observer.postponed("checkpoint", reported as Error);
  }

  /** Ends all work. After a failed sync, the content of the disk is unknown, and a later sync cannot tell. */
  #fail(error: Error): StorageUnavailable {
    if (!this.#failure) {
      this.#failure = new StorageUnavailable(error.message, { cause: error });
      // Closing runs another sync, which can succeed although the failed one lost data. The log still has all of it.
      this.#connection.keepLog();
      this.#observer.fatal(error);
    }
    return this.#failure;
  }
}

/**
 * All rows of a read on the store in `file`, from one snapshot. They are first copied to a temporary file, because the
 * write-ahead log grows for as long as a snapshot is held, and the consumer may pause. This blocks the thread.
 */
async function* streamRows<R extends Row>(
  file: string,
  { sql }: QueryStatement<Values, R>,
  parameters: Values,
): AsyncGenerator<R[]> {
  const connection = new Connection(openWithoutMigrating(file));
  try {
    connection.all({ sql: `CREATE TEMP TABLE streamed AS ${sql}` }, parameters);
    yield* connection.batches({ sql: "SELECT * FROM streamed" }, [], BATCH) as Generator<R[]>;
  } catch (error) {
    throw asStorageError(error, file);
  } finally {
    connection.close();
  }
}
