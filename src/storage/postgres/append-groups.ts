import type { ShopNumber } from "../../contract/caller.ts";
import { CommitUnknown, StorageUnavailable } from "../errors.ts";
import { type StoreStep, step } from "../step.ts";
import { type Change, TransactionRun } from "../transaction.ts";
import { endsConnection, isLockTimeout } from "./errors.ts";
import { silentServer } from "./silence.ts";
import type { Transactions } from "./transactions.ts";

/** The maximum number of transactions in one commit. If one of them fails, each runs alone. */
const GROUP_SIZE = 64;

interface Waiting {
  readonly body: () => Change<unknown>;
  readonly started: TransactionRun<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Transactions that begin with an append, such as creates. An append locks its shop until the commit: alone, a shop would
 * have one such transaction for each sync of the server. Those to a shop that arrive in one turn of the event loop, or
 * while its previous group runs, run side by side and share a commit.
 */
export class AppendGroups {
  readonly #transactions: Transactions;
  /** By shop. A shop that is here has a running group. */
  readonly #waiting = new Map<number, Waiting[]>();
  readonly #serving = new Set<Promise<void>>();

  constructor(transactions: Transactions) {
    this.#transactions = transactions;
  }

  /** `started` is a run of the body, at its append to the shop. */
  add<T>(shop: ShopNumber, body: () => Change<T>, started: TransactionRun<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const one = { body, started, resolve, reject } as Waiting;
      const others = this.#waiting.get(shop);
      if (others) return void others.push(one);
      this.#waiting.set(shop, [one]);
      const serving = this.#serve(shop).finally(() => this.#serving.delete(serving));
      return void this.#serving.add(serving);
    });
  }

  /** Resolves when none waits. */
  async drained(): Promise<void> {
    await Promise.all(this.#serving);
  }

  async #serve(shop: ShopNumber): Promise<void> {
    await new Promise(setImmediate); // requests that have already arrived join the group
    const waiting = this.#waiting.get(shop) ?? [];
    while (waiting.length > 0) {
      const refusal = await this.#commit(shop, waiting.splice(0, GROUP_SIZE));
      if (refusal) for (const { reject } of waiting.splice(0)) reject(refusal);
    }
    this.#waiting.delete(shop);
  }

  /** Never rejects. Returns the error for those that wait, if they would wait as long again. */
  async #commit(shop: ShopNumber, group: readonly Waiting[], isFirst = true): Promise<unknown> {
    let runs = group.map(({ started }) => started);
    let isStarted = isFirst;
    const together = function* (): Change<void> {
      if (!isStarted) runs = group.map(({ body }) => new TransactionRun(body));
      isStarted = false;
      for (;;) {
        const going = runs.filter((run) => run.step !== undefined);
        if (going.length === 0) return;
        const steps = going.map((run) => run.step as StoreStep);
        const results = (yield step({ group: steps })) as readonly unknown[];
        for (const [index, run] of going.entries()) run.advance(results[index]);
      }
    };
    try {
      const run = new TransactionRun(together);
      await this.#transactions.run(together, run, run.step as StoreStep, shop, group.length);
    } catch (error) {
      const isUnavailable = error instanceof StorageUnavailable || isLockTimeout(error);
      if (group.length > 1 && !isUnavailable && !endsConnection(error)) return this.#commitEach(shop, group);
      for (const { reject } of group) reject(error);
      if (isUnavailable && !(error instanceof CommitUnknown)) return error;
      return this.#transactions.isSilent ? silentServer() : undefined;
    }
    for (const [index, { resolve, reject }] of group.entries()) {
      try {
        resolve((runs[index] as TransactionRun<unknown>).finish());
      } catch (error) {
        reject(error); // the other members still get their results
      }
    }
    return undefined;
  }

  async #commitEach(shop: ShopNumber, group: readonly Waiting[]): Promise<unknown> {
    for (const [index, one] of group.entries()) {
      const refusal = await this.#commit(shop, [one], false);
      if (!refusal) continue;
      for (const { reject } of group.slice(index + 1)) reject(refusal);
      return refusal;
    }
    return undefined;
  }
}
