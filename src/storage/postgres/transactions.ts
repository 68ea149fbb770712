import { CommitUnknown, StorageUnavailable } from "../errors.ts";
import type { Row } from "../statement.ts";
import type { StorageObserver } from "../storage.ts";
import type { Step, Transaction } from "../transaction.ts";
import { TransactionRun } from "../transaction-run.ts";
import { appendTogether } from "./append.ts";
import { begin, beginReadCommitted, commitAfter, rollback } from "./commit.ts";
import type { Connection } from "./connection.ts";
import type { ConnectionSlot } from "./connection-slot.ts";
import { endsConnection, isConflict, postgresCode, READ_ONLY } from "./errors.ts";

/** How long a transaction may wait and be retried, in milliseconds. */
const DEADLINE = 5_000;
/** The maximum time between two attempts, in milliseconds. */
const MAX_PAUSE = 50;

/** The part of a slot that a transaction uses. */
export type TransactionSlot = Pick<ConnectionSlot, "get" | "failed">;

export interface TransactionsOptions {
  readonly slots: readonly TransactionSlot[];
  readonly committed: StorageObserver["committed"];
  /** The number of attempts that a transaction with conflicts may make in any case, even after the deadline. */
  readonly minAttempts?: number;
}

/**
 * Runs transactions of several statements. Each has its own connection while it runs, and is serializable unless it
 * begins with a lock. After a conflict, a transaction runs again. Retries run one after the other, so that they do not
 * conflict with each other forever.
 */
export class Transactions {
  readonly #committed: StorageObserver["committed"];
  readonly #minAttempts: number;
  readonly #free: TransactionSlot[];
  readonly #waiting: ((slot: TransactionSlot) => void)[] = [];
  readonly #running = new Set<Promise<unknown>>();
  /** Settles when the retries that wait now have ended. */
  #retries: Promise<unknown> = Promise.resolve();

  constructor({ slots, committed, minAttempts = 1 }: TransactionsOptions) {
    this.#free = [...slots];
    this.#committed = committed;
    this.#minAttempts = minAttempts;
  }

  /** Runs a transaction. Rejects with the error of its body or of the driver. */
  run<T>(body: () => Transaction<T>): Promise<T> {
    const work = this.#run(body, performance.now() + DEADLINE).finally(() => this.#running.delete(work));
    this.#running.add(work);
    return work;
  }

  /** Resolves when all transactions have ended. */
  async drained(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #run<T>(body: () => Transaction<T>, deadline: number): Promise<T> {
    try {
      return await this.#attempt(body, deadline);
    } catch (error) {
      if (!mayRunAgain(error)) throw error;
    }
    const turn = this.#retries.then(() => this.#runAgain(body, deadline));
    this.#retries = turn.catch(() => {});
    return turn;
  }

  async #runAgain<T>(body: () => Transaction<T>, deadline: number): Promise<T> {
    for (let attempt = 2; ; attempt++) {
      try {
        return await this.#attempt(body, deadline);
      } catch (error) {
        const isLate = performance.now() > deadline && (attempt >= this.#minAttempts || !isConflict(error));
        if (!mayRunAgain(error) || isLate) throw error;
      }
      await Bun.sleep(Math.random() * Math.min(2 ** (attempt - 2), MAX_PAUSE));
    }
  }

  async #attempt<T>(body: () => Transaction<T>, deadline: number): Promise<T> {
    const slot = this.#free.pop() ?? (await this.#nextFree(deadline));
    try {
      const connection = await slot.get();
      try {
        return await this.#runOn(connection, body);
      } catch (error) {
        slot.failed(connection, error instanceof CommitUnknown ? error.cause : error);
        throw error;
      }
    } finally {
      const next = this.#waiting.shift();
      if (next) next(slot);
      else this.#free.push(slot);
    }
  }

  #nextFree(deadline: number): Promise<TransactionSlot> {
    return new Promise((resolve, reject) => {
      const left = Math.max(0, deadline - performance.now()); // a transaction that runs again may have passed it
      const late = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(take), 1);
        reject(new StorageUnavailable("All connections to the database are in use."));
      }, left);
      const take = (slot: TransactionSlot) => {
        clearTimeout(late);
        resolve(slot);
      };
      this.#waiting.push(take);
    });
  }

  async #runOn<T>(connection: Connection, body: () => Transaction<T>): Promise<T> {
    const started = performance.now();
    const run = new TransactionRun(body);
    const { step: firstStep } = run;
    if (!firstStep) return run.finish();
    let hasCommitted = false;
    const begun = connection.run(firstStep.append || firstStep.statement.locks ? beginReadCommitted : begin);
    begun.catch(() => {}); // the following statements fail too
    try {
      for (let step: Step | undefined = firstStep; step; step = run.step) {
        const rows = sendStep(connection, step);
        if (step.isLast) {
          await commitAfter(connection, rows);
          hasCommitted = true;
        }
        run.advance(await rows);
      }
      if (!hasCommitted) await commitAfter(connection, begun);
      hasCommitted = true;
      this.#committed((performance.now() - started) / 1000, 1);
      return run.finish();
    } catch (error) {
      if (!hasCommitted && !(error instanceof CommitUnknown)) {
        await connection.run(rollback).catch(() => connection.close());
      }
      throw error;
    }
  }
}

/** Sends all statements of a step in one round trip. Resolves with the rows of the first. */
async function sendStep(connection: Connection, step: Step): Promise<Row[]> {
  if (step.append) return connection.run(...appendTogether([step]));
  const runs = [step, ...(step.more ?? [])].map((each) => connection.run(each.statement, each.parameters));
  const [rows, ...others] = await Promise.all(runs);
  step.takeMore?.(others);
  return rows as Row[];
}

/**
 * True if the transaction changed nothing and failed because of a conflict or a lost connection. A read-only server
 * would refuse it again.
 */
function mayRunAgain(error: unknown): boolean {
  return isConflict(error) || (endsConnection(error) && postgresCode(error) !== READ_ONLY);
}
