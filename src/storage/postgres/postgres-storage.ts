import { type Payer, turns } from "../../timing/turns.ts";
import { StorageUnavailable } from "../errors.ts";
import type { EngineSql, QueryStatement, Row, Values } from "../statement.ts";
import type { KnownStep, StatementStep, StoreStep } from "../step.ts";
import type { Followed, OpenStorage, StorageObserver } from "../storage.ts";
import { type Change, type KnownSteps, type Read, requireNoRead, resumeRead, TransactionRun } from "../transaction.ts";
import type { PostgresAddress } from "./address.ts";
import { AppendGroups } from "./append-groups.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { ConnectionSlot } from "./connection-slot.ts";
import { asStorageError, endsConnection, failureCode } from "./errors.ts";
import { FewOfEach } from "./few-of-each.ts";
import { Lease } from "./lease.ts";
import { PageReads } from "./page-reads.ts";
import { writeNothing } from "./schema.ts";
import { isShared, SharedReads } from "./shared-reads.ts";
import { withSilenceLimit } from "./silence.ts";
import { STREAM_IDLE, streamRows } from "./stream-rows.ts";
import { Transactions } from "./transactions.ts";

/** How often a statement is repeated whose connection is lost while it waits for one. */
const ATTEMPTS = 2;
/** Connections for transactions that begin with an append, and for others. Each runs one at a time. */
const [APPENDERS, WRITERS] = [2, 3];
/** How long a read, an append, the lease or the check may take, in milliseconds. A silent connection is closed 500 ms later. */
const SINGLE_DEADLINE = 2_000;
/** How long a read may take in total if it must wait for a new connection, in milliseconds. */
const READ_DEADLINE = 2_500;
/** How long one statement of another transaction may take, in milliseconds. It may reassign a million animals. */
const STEP_DEADLINE = 10_000;
/** How long such a transaction may wait and be retried, in milliseconds. */
const RETRIED = 5_000;
/** How long a statement of a transaction may wait for a lock before others go first, in milliseconds. */
const LOCK_TIMEOUT = 500;
/** How often to look for changes that this process follows, in milliseconds. */
const CHANGE_POLL = 250;
/** All processes know of a committed change after this time, in milliseconds. */
const CHANGES_PROPAGATED = 1_000;

/**
 * The PostgreSQL engine. Look-ups by key and pages share a connection and statements. Other reads, which may take longer,
 * share another connection, on which each shop has one step at a time. A transaction has a connection while it runs; those
 * that append to one shop share it, and their commit.
 */
export class PostgresStorage implements OpenStorage {
  readonly readsSynchronously = false;
  readonly #address: PostgresAddress;
  readonly #observer: StorageObserver;
  /** The connection of look-ups and pages, and that of all other reads. Each has many in flight at once. */
  readonly #keyed: ConnectionSlot;
  readonly #others: ConnectionSlot;
  /** For the lease and the check. */
  readonly #writer: ConnectionSlot;
  readonly #slots: readonly ConnectionSlot[];
  readonly #transactions: Transactions;
  readonly #groups: AppendGroups;
  readonly #shared = new SharedReads((statement, parameters) =>
    this.#run(statement, parameters, [this.#keyed, this.#others]),
  );
  /** What one shop may read at once, so that others do not wait for all of it. */
  readonly #pages = new PageReads();
  readonly #searches = new FewOfEach(1);
  readonly #lease = new Lease((statement, parameters) => this.#change(statement, parameters));
  /** The connections of streams. */
  readonly #streaming = new Set<Connection>();
  #followed: Followed | undefined;
  readonly #commitListeners: (() => void)[] = [];
  readonly #poll: Timer;
  /** When the last check with a response began, by the monotonic clock. */
  #checkedAt = 0;
  #isChecking = false;
  #isClosed = false;

  /** The database must have the current schema: see `openPostgres`. */
  constructor(address: PostgresAddress, observer: StorageObserver) {
    this.#address = address;
    this.#observer = observer;
    // If a machine dies, nothing tells its clients: each connection would find out by work that fails.
    const onSilent = () => {
      for (const slot of this.#slots) slot.closeIfIdle();
    };
    const newSlot = (deadline: number, kind: Partial<ConnectionOptions> = {}) =>
      new ConnectionSlot({ address, deadline, onSilent, ...kind }, (error) =>
        observer.postponed("reach_database", error),
      );
    const newSlots = (length: number, deadline: number) =>
      Array.from({ length }, () => newSlot(deadline, { lockTimeout: LOCK_TIMEOUT }));
    const [appenders, writers] = [newSlots(APPENDERS, SINGLE_DEADLINE), newSlots(WRITERS, STEP_DEADLINE)];
    this.#keyed = newSlot(SINGLE_DEADLINE, { isReader: true });
    this.#others = newSlot(SINGLE_DEADLINE, { isReader: true });
    this.#writer = newSlot(SINGLE_DEADLINE, { isLocking: true, lockTimeout: LOCK_TIMEOUT });
    this.#slots = [this.#writer, ...appenders, ...writers, this.#keyed, this.#others];
    const committed: StorageObserver["committed"] = (seconds, count) => this.#committed(seconds, count);
    this.#groups = new AppendGroups(new Transactions({ slots: appenders, deadline: SINGLE_DEADLINE, committed }));
    this.#transactions = new Transactions({ slots: writers, deadline: RETRIED, committed });
    this.#poll = setInterval(() => void this.#readFollowed(), CHANGE_POLL);
    this.#poll.unref();
  }

  async read<T>(steps: Read<T>, payer?: Payer): Promise<T> {
    const known = steps as KnownSteps<T>;
    let next = resumeRead(known);
    while (!next.done) {
      const step = next.value;
      const result = await this.#resultOf(step, payer);
      // One answer of the server may have several pages of a shop: each is used in a turn of the shop.
      if (!isLookUp(step) && turns.isInDebt(payer)) await turns.pause(payer);
      const since = performance.now();
      next = resumeRead(known, result);
      const time = turns.charge(payer, since);
      if (isPage(step)) this.#pages.used(payer, (result as readonly Row[]).length, time);
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

  async write<T>(body: () => Change<T>, payer?: Payer): Promise<T> {
    requireNoRead();
    if (this.#isClosed) throw new StorageUnavailable("The store is closed.");
    const run = new TransactionRun(body);
    const { step } = run;
    if (!step) return run.finish();
    try {
      if ("append" in step) return await this.#groups.add(step.shop, body, run);
      return await this.#transactions.run(body, run, step, payer);
    } catch (error) {
      throw this.#report(error);
    }
  }

  follow(followed: Followed): void {
    this.#followed = followed;
  }

  onCommit(listener: () => void): void {
    this.#commitListeners.push(listener);
  }

  /** Reads see a commit only after it is on disk. */
  settled(): void {}

  /** Each process checks four times a second. If the response is late, it takes any account as changed. */
  async changesPropagated(): Promise<void> {
    await Bun.sleep(CHANGES_PROPAGATED);
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

  /**
   * Needs every connection, but runs nothing on those of appends and larger transactions, which may all wait for locks
   * although the store works.
   */
  async check(): Promise<void> {
    await this.#change(writeNothing, []);
    try {
      await Promise.all(this.#slots.map(async (slot) => slot.get()));
    } catch (error) {
      throw this.#report(error);
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#poll);
    await Promise.all([this.#groups.drained(), this.#transactions.drained()]);
    for (const slot of this.#slots) slot.close();
    for (const connection of this.#streaming) connection.close();
  }

  /** The result of a step of a read. */
  #resultOf(step: KnownStep, payer: Payer): Promise<unknown> {
    if ("waitsFor" in step) return step.waitsFor;
    if ("pauses" in step) return turns.pause(payer);
    if ("afterCommit" in step) throw new TypeError("A read has no commit.");
    const query = () => this.#query(step);
    if (isLookUp(step)) return query();
    return isPage(step)
      ? this.#pages.run(payer, Number(step.parameters.at(-1)), query)
      : this.#searches.run(payer, 1, query);
  }

  #query(step: StoreStep): Promise<unknown> {
    if ("statement" in step) {
      const statement = step.statement as QueryStatement;
      return isShared(statement)
        ? this.#shared.rows(statement, step.parameters)
        : this.#read(statement, step.parameters);
    }
    if ("group" in step) return Promise.all(step.group.map((one) => this.#query(one)));
    throw new TypeError("A read cannot append.");
  }

  #committed(seconds: number, transactions: number): void {
    this.#observer.committed(seconds, transactions);
    for (const listener of this.#commitListeners) listener();
  }

  #read(statement: QueryStatement, parameters: Values): Promise<Row[]> {
    return this.#run(statement, parameters, [this.#others, this.#keyed]);
  }

  /** Runs a statement that is a transaction by itself, and that may run twice. */
  #change(statement: EngineSql, parameters: Values): Promise<Row[]> {
    return this.#run(statement, parameters, [this.#writer]);
  }

  /** Runs a statement over the first connection, or if it is lost, over the next one. */
  async #run(statement: EngineSql, parameters: Values, slots: readonly ConnectionSlot[]): Promise<Row[]> {
    const started = performance.now();
    const [slot] = slots as [ConnectionSlot];
    const connection = slot.get();
    let tried = 0;
    // An open connection closes itself if the server is silent, so reads on it need no timer.
    if (!(connection instanceof Promise)) {
      try {
        return await connection.run(statement, parameters);
      } catch (error) {
        slot.failed(connection, error);
        if (!endsConnection(error) || connection.isSilent) throw this.#report(error);
      }
      tried++;
    }
    try {
      const left = READ_DEADLINE - (performance.now() - started);
      return await withSilenceLimit(this.#runOver(slots, tried, statement, parameters), left);
    } catch (error) {
      throw this.#report(error);
    }
  }

  /** Repeats a statement on another connection if its connection is lost. All connections may be lost at once. */
  async #runOver(
    slots: readonly ConnectionSlot[],
    tried: number,
    statement: EngineSql,
    parameters: Values,
  ): Promise<Row[]> {
    for (let attempt = tried; ; attempt++) {
      const slot = slots[attempt % slots.length] as ConnectionSlot;
      const connection = await slot.get();
      try {
        return await connection.run(statement, parameters);
      } catch (error) {
        slot.failed(connection, error);
        if (attempt - tried === ATTEMPTS || !endsConnection(error) || connection.isSilent) throw error;
      }
    }
  }

  async #readFollowed(): Promise<void> {
    const changes = this.#followed;
    if (!changes) return;
    if (this.#isChecking) return changes.miss();
    this.#isChecking = true;
    const now = performance.now();
    try {
      // While this process was stopped, what has changed may have been deleted completely.
      if (now - this.#checkedAt > CHANGES_PROPAGATED) changes.miss();
      changes.take(await this.#read(changes.statement, [changes.last]));
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
    const code = failureCode(error);
    if (code !== "") this.#observer.failed(code);
    return asStorageError(error);
  }
}

/** True if a step reads a page, of which its last parameter is the limit. */
function isPage(step: KnownStep): step is StatementStep {
  return "statement" in step && step.statement.isPage === true;
}

/** True if a step finds one row by its key, for which nobody waits long. */
function isLookUp(step: KnownStep): boolean {
  return "statement" in step && step.statement.isLookUp === true;
}
