import { type Payer, turns } from "../../timing/turns.ts";
import { AccountChanges, type AccountListener, readAccountChanges } from "../account-changes.ts";
import { STREAM_IDLE, StorageUnavailable } from "../errors.ts";
import type { Command, QueryStatement, Row, Values } from "../statement.ts";
import type { Storage, StorageObserver } from "../storage.ts";
import { type Change, type KnownSteps, type Read, type StoreStep, TransactionRun } from "../transaction.ts";
import type { PostgresAddress } from "./address.ts";
import { AppendQueue } from "./append-queue.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { ConnectionSlot } from "./connection-slot.ts";
import { asStorageError, endsConnection, postgresCode } from "./errors.ts";
import { Lease } from "./lease.ts";
import { writeNothing } from "./schema.ts";
import { SharedReads } from "./shared-reads.ts";
import { withSilenceLimit } from "./silence.ts";
import { streamRows } from "./stream-rows.ts";
import { Transactions } from "./transactions.ts";

/** Connections for reads. Each has many reads in flight at once. */
const READERS = 2;
/** Connections for transactions of several statements. Each runs one transaction at a time. */
const WRITERS = 4;
/** How long a read or an append may take, in milliseconds. A silent connection is closed 500 ms later. */
const SINGLE_DEADLINE = 2_000;
/** How long a read may take in total if it must wait for a new connection, in milliseconds. */
const READ_DEADLINE = 2_500;
/** How long one statement of a larger transaction may take, in milliseconds. It may reassign a million animals. */
const STEP_DEADLINE = 10_000;
/**
 * How long an append may wait for a lock before others go first, in milliseconds. Appends of all shops share a connection.
 */
const APPEND_LOCK_TIMEOUT = 250;
/** The same for a statement of a larger transaction, which has a connection while it runs. */
const STEP_LOCK_TIMEOUT = 500;
/** How often to check which accounts have changed, in milliseconds. */
const ACCOUNT_CHANGE_POLL = 250;
/** All processes know of a committed change after this time, in milliseconds. */
const ACCESS_CHANGES_PROPAGATED = 1_000;

/**
 * The PostgreSQL engine. Reads share connections and round trips. Look-ups by key and pages also share statements.
 * Appends share commits. Other transactions use one connection each.
 */
export class PostgresStorage implements Storage {
  readonly readsSynchronously = false;
  readonly #address: PostgresAddress;
  readonly #observer: StorageObserver;
  readonly #readers: readonly ConnectionSlot[];
  /** For changes of one statement. */
  readonly #writer: ConnectionSlot;
  readonly #slots: readonly ConnectionSlot[];
  readonly #appends: AppendQueue;
  readonly #transactions: Transactions;
  readonly #shared = new SharedReads((statement, parameters) => this.#read(statement, parameters));
  readonly #lease = new Lease((statement, parameters) => this.#change(statement, parameters));
  /** The connections of streams. */
  readonly #streaming = new Set<Connection>();
  readonly #accountChanges = new AccountChanges();
  readonly #commitListeners: (() => void)[] = [];
  readonly #poll: Timer;
  /** The number of reads so far. They take turns on the readers. */
  #reads = 0;
  /** When the last check with a response began, by the monotonic clock. */
  #checkedAt = 0;
  #isChecking = false;
  #isClosed = false;

  /** The database must have the current schema: see `openPostgres`. */
  constructor(address: PostgresAddress, observer: StorageObserver) {
    this.#address = address;
    this.#observer = observer;
    const newSlot = (deadline: number, kind: Omit<ConnectionOptions, "address" | "deadline"> = {}) =>
      new ConnectionSlot({ address, deadline, ...kind }, (error) => observer.postponed("reach_database", error));
    const appends = newSlot(SINGLE_DEADLINE, { isLocking: true, lockTimeout: APPEND_LOCK_TIMEOUT });
    const writers = Array.from({ length: WRITERS }, () => newSlot(STEP_DEADLINE, { lockTimeout: STEP_LOCK_TIMEOUT }));
    this.#readers = Array.from({ length: READERS }, () => newSlot(SINGLE_DEADLINE, { isReader: true }));
    this.#writer = appends;
    this.#slots = [appends, ...writers, ...this.#readers];
    const committed: StorageObserver["committed"] = (seconds, count) => this.#committed(seconds, count);
    this.#appends = new AppendQueue({ slot: appends, committed, report: (error) => this.#report(error) });
    this.#transactions = new Transactions({ slots: writers, committed });
    this.#poll = setInterval(() => void this.#checkAccountChanges(), ACCOUNT_CHANGE_POLL);
    this.#poll.unref();
  }

  async read<T>(steps: Read<T>, payer?: Payer): Promise<T> {
    const known = steps as KnownSteps<T>;
    let next = known.next();
    while (!next.done) {
      const step = next.value;
      if ("waitsFor" in step) next = known.next(await step.waitsFor);
      else if ("pauses" in step) next = known.next(await turns.pause(payer));
      else if ("afterCommit" in step) throw new TypeError("A read has no commit.");
      else next = known.next(await this.#query(step));
    }
    return next.value;
  }

  async *stream<P extends Values, R extends Row>(
    statement: QueryStatement<P, R>,
    ...parameters: NoInfer<P>
  ): AsyncGenerator<R[]> {
    if (this.#isClosed) throw new StorageUnavailable("The store is closed.");
    const options = { address: this.#address, deadline: STEP_DEADLINE, isReader: true, idle: STREAM_IDLE };
    let connection: Connection | undefined;
    try {
      connection = await Connection.open(options);
      this.#streaming.add(connection);
      yield* streamRows(connection, statement, parameters);
    } catch (error) {
      throw this.#report(error);
    } finally {
      connection?.close();
      if (connection) this.#streaming.delete(connection);
    }
  }

  async write<T>(body: () => Change<T>): Promise<T> {
    if (this.#isClosed) throw new StorageUnavailable("The store is closed.");
    const run = new TransactionRun(body);
    const { step } = run;
    if (!step) return run.finish();
    if ("append" in step) return this.#appends.add(run, step);
    try {
      return await this.#transactions.run(body, run, step);
    } catch (error) {
      throw this.#report(error);
    }
  }

  onOtherProcessChange(listener: AccountListener): void {
    this.#accountChanges.listen(listener);
  }

  onCommit(listener: () => void): void {
    this.#commitListeners.push(listener);
  }

  /** Reads see a commit only after it is on disk. */
  settled(): void {}

  /** Each process checks four times a second. If the response is late, it takes any account as changed. */
  async accessChangesPropagated(): Promise<void> {
    await Bun.sleep(ACCESS_CHANGES_PROPAGATED);
  }

  /** Other processes may write at any time. */
  versionOf(): undefined {}

  lead(): Promise<boolean> {
    return this.#lease.lead();
  }

  /** The server removes the remains of deleted rows itself later (VACUUM). */
  async scrub(): Promise<boolean> {
    return true;
  }

  /** Does not use the connections of larger transactions, which may all wait for locks although the store works. */
  async check(): Promise<void> {
    await this.#change(writeNothing, []);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#poll);
    await Promise.all([this.#appends.drained(), this.#transactions.drained()]);
    for (const slot of this.#slots) slot.close();
    for (const connection of this.#streaming) connection.close();
  }

  #query(step: StoreStep): Promise<unknown> {
    if ("statement" in step) return this.#shared.rows(step.statement as QueryStatement, step.parameters);
    if ("group" in step) return Promise.all(step.group.map((one) => this.#query(one)));
    throw new TypeError("A read cannot append.");
  }

  #committed(seconds: number, transactions: number): void {
    this.#observer.committed(seconds, transactions);
    for (const listener of this.#commitListeners) listener();
  }

  #read(statement: QueryStatement, parameters: Values): Promise<Row[]> {
    return this.#run(statement, parameters, () => this.#nextReader());
  }

  /** Runs a statement that is a transaction by itself, and that may run twice. */
  #change(statement: Command, parameters: Values): Promise<Row[]> {
    return this.#run(statement, parameters, () => this.#writer);
  }

  async #run(statement: Command, parameters: Values, nextSlot: () => ConnectionSlot): Promise<Row[]> {
    const started = performance.now();
    let slot = nextSlot();
    const connection = slot.get();
    // An open connection closes itself if the server is silent, so reads on it need no timer.
    if (!(connection instanceof Promise)) {
      try {
        return await connection.run(statement, parameters);
      } catch (error) {
        slot.failed(connection, error);
        if (!endsConnection(error) || connection.isSilent) throw this.#report(error);
      }
      slot = nextSlot();
    }
    try {
      const left = READ_DEADLINE - (performance.now() - started);
      return await withSilenceLimit(this.#runOver(slot, statement, parameters, nextSlot), left);
    } catch (error) {
      throw this.#report(error);
    }
  }

  /** Repeats a statement on another connection if its connection is lost. All connections may be lost at once. */
  async #runOver(
    first: ConnectionSlot,
    statement: Command,
    parameters: Values,
    nextSlot: () => ConnectionSlot,
  ): Promise<Row[]> {
    for (let slot = first, attempt = 1; ; slot = nextSlot(), attempt++) {
      const connection = await slot.get();
      try {
        return await connection.run(statement, parameters);
      } catch (error) {
        slot.failed(connection, error);
        if (attempt > READERS || !endsConnection(error) || connection.isSilent) throw error;
      }
    }
  }

  #nextReader(): ConnectionSlot {
    return this.#readers[this.#reads++ % READERS] as ConnectionSlot;
  }

  /** Notifies the listeners of the accounts that have changed; of all if that is unknown. */
  async #checkAccountChanges(): Promise<void> {
    const changes = this.#accountChanges;
    if (this.#isChecking) return changes.miss();
    this.#isChecking = true;
    const now = performance.now();
    try {
      // While this process was stopped, an account may have been deleted completely.
      if (now - this.#checkedAt > ACCESS_CHANGES_PROPAGATED) changes.miss();
      changes.take(await this.#read(readAccountChanges, [changes.last]));
      this.#checkedAt = now;
    } catch {
      changes.miss();
    } finally {
      this.#isChecking = false;
    }
  }

  /** Converts an error for the caller. */
  #report(error: unknown): unknown {
    if (this.#isClosed) return new StorageUnavailable("The store is closed.", { cause: error });
    const code = postgresCode(error);
    if (code !== "") this.#observer.failed(code);
    return asStorageError(error);
  }
}
