import { type Payer, turns } from "../../timing/turns.ts";
import { CommitUnknown } from "../errors.ts";
import type { Appended, SqlParameter } from "../statement.ts";
import { type AppendStep, type StoreStep } from "../step.ts";
import type { StorageObserver } from "../storage.ts";
import { type Change, isSameAppend, TransactionRun } from "../transaction.ts";
import { appendStatement, eachAppended } from "./append.ts";
import { begin, beginReadCommitted, commitChange, rollback } from "./commit.ts";
import type { Connection } from "./connection.ts";
import type { ConnectionSlot } from "./connection-slot.ts";
import {
  dataLocked,
  endsConnection,
  isConflict,
  isLockTimeout,
  NoConnection,
  postgresCode,
  READ_ONLY,
} from "./errors.ts";
import { silentServer } from "./silence.ts";

/** The maximum time between two attempts, in milliseconds. */
const MAX_PAUSE = 50;

/** For whom a transaction runs. */
interface RunningFor {
  readonly owner: SqlParameter | undefined;
  /** Who is charged for the time of its body. */
  readonly payer: Payer;
  /** By the clock of `performance.now()`. */
  readonly deadline: number;
  /** The number of transactions that it stands for. */
  readonly count: number;
}

/** A transaction that waits for a connection. */
interface WaitingForSlot {
  readonly resolve: (slot: ConnectionSlot) => void;
  readonly reject: (error: unknown) => void;
}

export interface TransactionsOptions {
  readonly slots: readonly ConnectionSlot[];
  /** How long a transaction may wait and be retried, in milliseconds. */
  readonly deadline: number;
  readonly committed: StorageObserver["committed"];
}

/** True if a transaction that begins with this step begins with a lock. */
function locks(step: StoreStep): boolean {
  if ("group" in step) return step.group[0] !== undefined && locks(step.group[0]);
  return "append" in step || step.statement.locks === true;
}

/** The shop or account whose data a transaction with this first step locks, if it is known. */
function lockedBy(step: StoreStep): SqlParameter | undefined {
  if ("group" in step) return step.group[0] && lockedBy(step.group[0]);
  if ("append" in step) return step.shop;
  return step.statement.locks && step.parameters[0];
}

/**
 * Runs transactions, except those that begin with `append`. Each has its own connection while it runs, and is serializable unless it
 * begins with a lock. After a conflict, a transaction runs again. Retries run one after the other, so that they do not
 * conflict with each other forever.
 *
 * Those of one owner leave a connection to others. While its data is locked by another process, which may be frozen, they
 * use one connection, and after each wait for the lock, others go first.
 */
export class Transactions {
  readonly #committed: StorageObserver["committed"];
  readonly #deadline: number;
  readonly #free: ConnectionSlot[];
  /** The transactions that wait for a connection, by owner. Owners take turns. */
  readonly #waiting = new Map<SqlParameter | undefined, WaitingForSlot[]>();
  #isSilent = false;
  readonly #maxOfOwner: number;
  /** The number of running transactions of each owner. */
  readonly #runningOf = new Map<SqlParameter, number>();
  /** Owners whose last transaction has waited for a lock for too long. */
  readonly #locked = new Set<SqlParameter>();
  readonly #running = new Set<Promise<unknown>>();
  /** Settles when the retries that wait now have ended. */
  #retries: Promise<unknown> = Promise.resolve();

  constructor({ slots, deadline, committed }: TransactionsOptions) {
    this.#deadline = deadline;
    this.#free = [...slots];
    this.#maxOfOwner = Math.max(1, slots.length - 1);
    this.#committed = committed;
  }

  /** True if the last connection that was used was closed because the server did not respond. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /**
   * Runs a transaction, which `started` has begun. It stands for `count` transactions. Rejects with the error of its body or
   * of the driver.
   */
  run<T>(body: () => Change<T>, started: TransactionRun<T>, first: StoreStep, payer: Payer, count = 1): Promise<T> {
    const deadline = performance.now() + this.#deadline;
    const owner = lockedBy(first);
    let next: TransactionRun<T> | undefined = started;
    const attempt = (): Promise<T> => {
      const run = next ?? new TransactionRun(body);
      next = undefined;
      return this.#attempt(run, { owner, payer, deadline, count });
    };
    const work = this.#untilUnlocked(attempt, deadline).finally(() => this.#running.delete(work));
    this.#running.add(work);
    return work;
  }

  /** Resolves when all transactions have ended. */
  async drained(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #untilUnlocked<T>(attempt: () => Promise<T>, deadline: number): Promise<T> {
    for (;;) {
      try {
        return await this.#withRetries(attempt, deadline);
      } catch (error) {
        if (!isLockTimeout(error) || performance.now() > deadline) throw error;
      }
    }
  }

  async #withRetries<T>(attempt: () => Promise<T>, deadline: number): Promise<T> {
    try {
      return await attempt();
    } catch (error) {
      if (!mayRunAgain(error) || this.#isSilent) throw error;
    }
    const turn = this.#retries.then(() => this.#retry(attempt, deadline));
    this.#retries = turn.catch(() => {});
    return turn;
  }

  async #retry<T>(attempt: () => Promise<T>, deadline: number): Promise<T> {
    for (let count = 2; ; count++) {
      try {
        return await attempt();
      } catch (error) {
        if (!mayRunAgain(error) || performance.now() > deadline) throw error;
      }
      await Bun.sleep(Math.random() * Math.min(2 ** (count - 2), MAX_PAUSE));
    }
  }

  async #attempt<T>(run: TransactionRun<T>, runningFor: RunningFor): Promise<T> {
    const { owner, deadline } = runningFor;
    const slot = this.#takeFree(owner) ?? (await this.#nextFree(owner, deadline));
    let isLocked = false;
    try {
      const connection = await slot.get();
      try {
        return await this.#runOn(connection, run, runningFor);
      } catch (error) {
        isLocked = isLockTimeout(error);
        slot.failed(connection, error instanceof CommitUnknown ? error.cause : error);
        throw error;
      }
    } finally {
      this.#giveBack(slot, owner, isLocked);
    }
  }

  /** A free connection that a transaction of the owner may use now. */
  #takeFree(owner: SqlParameter | undefined): ConnectionSlot | undefined {
    if (owner === undefined) return this.#free.pop();
    const running = this.#runningOf.get(owner) ?? 0;
    if (this.#free.length === 0 || running >= (this.#locked.has(owner) ? 1 : this.#maxOfOwner)) return undefined;
    this.#runningOf.set(owner, running + 1);
    return this.#free.pop();
  }

  #giveBack(slot: ConnectionSlot, owner: SqlParameter | undefined, isLocked: boolean): void {
    this.#free.push(slot);
    if (owner !== undefined) {
      const running = (this.#runningOf.get(owner) ?? 0) - 1;
      if (running > 0) this.#runningOf.set(owner, running);
      else this.#runningOf.delete(owner);
      if (isLocked) this.#locked.add(owner);
      else this.#locked.delete(owner);
    }
    this.#isSilent = slot.isSilent;
    if (slot.isSilent) this.#refuseAll();
    for (const [next, waiting] of this.#waiting) {
      if (this.#free.length === 0) return;
      const free = this.#takeFree(next);
      if (!free) continue;
      waiting.shift()?.resolve(free);
      this.#waiting.delete(next);
      if (waiting.length > 0) this.#waiting.set(next, waiting); // now the last: this loop visits it again
    }
  }

  /** After a silent server, the transactions that wait fail immediately instead of waiting again. None was sent. */
  #refuseAll(): void {
    for (const { reject } of [...this.#waiting.values()].flat()) reject(silentServer());
    this.#waiting.clear();
  }

  #nextFree(owner: SqlParameter | undefined, deadline: number): Promise<ConnectionSlot> {
    const { promise, resolve, reject } = Promise.withResolvers<ConnectionSlot>();
    const waiting = this.#waiting.getOrInsertComputed(owner, () => []);
    const one = { resolve, reject };
    waiting.push(one);
    const left = Math.max(0, deadline - performance.now()); // a transaction that runs again may have passed it
    const late = setTimeout(() => {
      waiting.splice(waiting.indexOf(one), 1);
      if (waiting.length === 0) this.#waiting.delete(owner);
      const isLocked = owner !== undefined && this.#locked.has(owner);
      reject(isLocked ? dataLocked() : new NoConnection("All connections to the database are in use."));
    }, left);
    return promise.finally(() => clearTimeout(late));
  }

  async #runOn<T>(connection: Connection, run: TransactionRun<T>, { payer, count }: RunningFor): Promise<T> {
    const started = performance.now();
    const first = run.step;
    if (!first) return run.finish();
    let hasCommitted = false;
    const begun = connection.run(locks(first) ? beginReadCommitted : begin);
    begun.catch(() => {}); // the following statements fail too
    try {
      for (let step: StoreStep | undefined = first; step; step = run.step) {
        const found = await send(connection, step);
        const since = performance.now();
        run.advance(found);
        turns.charge(payer, since);
      }
      await begun;
      await commitChange(connection);
      hasCommitted = true;
      this.#committed((performance.now() - started) / 1000, count);
      return run.finish();
    } catch (error) {
      if (!hasCommitted && !(error instanceof CommitUnknown)) {
        await connection.run(rollback).catch(() => connection.close());
      }
      throw error;
    }
  }
}

/** Sends a step in one round trip. Resolves with its result. */
function send(connection: Connection, step: StoreStep): Promise<unknown> {
  if ("group" in step && isOneAppend(step.group)) return appendTogether(connection, step.group);
  if ("group" in step) return Promise.all(step.group.map((one) => send(connection, one)));
  if ("append" in step) return connection.run(...appendStatement([step]));
  return connection.run(step.statement, step.parameters);
}

function isOneAppend(group: readonly StoreStep[]): group is readonly AppendStep[] {
  const [first] = group;
  return first !== undefined && "append" in first && group.every((one) => isSameAppend(first, one));
}

async function appendTogether(connection: Connection, steps: readonly AppendStep[]): Promise<unknown> {
  const rows = await connection.run(...appendStatement(steps));
  if (steps.length === 1) return [rows];
  // It has no room for all, or was deleted.
  if (rows.length === 0) throw new Error("A shop did not take rows together that it may take one by one.");
  return eachAppended(rows[0] as Appended, steps.length).map((one) => [one]);
}

/**
 * True if the transaction changed nothing and failed because of a conflict or a lost connection. A read-only server
 * would refuse it again.
 */
function mayRunAgain(error: unknown): boolean {
  return isConflict(error) || (endsConnection(error) && postgresCode(error) !== READ_ONLY);
}
