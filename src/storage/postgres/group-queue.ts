import type { StoreStep, TransactionRun } from "../transaction.ts";
import type { ConnectionSlot } from "./connection-slot.ts";
import { silentServer } from "./silence.ts";

/** The maximum number of transactions in one commit. If one of them fails, all must run again. */
export const GROUP_SIZE = 256;

/** A transaction of one step that waits for its result. */
export interface Waiting<S extends StoreStep = StoreStep> {
  readonly run: TransactionRun<unknown>;
  readonly step: S;
  /** When it was added: `performance.now()`. */
  readonly since: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A queue of transactions of one step. Transactions that arrive in one turn of the event loop, or during the previous
 * commit, are one group.
 */
export class GroupQueue<S extends StoreStep> {
  readonly #slot: ConnectionSlot;
  readonly #commit: (group: readonly Waiting<S>[]) => Promise<void>;
  readonly #postponed: Map<unknown, readonly Waiting<S>[]>;
  #waiting: Waiting<S>[] = [];
  #running: Promise<void> | undefined;

  /**
   * `commit` commits a group and settles its members, or adds them to `postponed`. It is called again, even with an empty
   * group, while there are any of these.
   */
  constructor(
    slot: ConnectionSlot,
    commit: (group: readonly Waiting<S>[]) => Promise<void>,
    postponed: Map<unknown, readonly Waiting<S>[]> = new Map(),
  ) {
    this.#slot = slot;
    this.#commit = commit;
    this.#postponed = postponed;
  }

  /** `step` is the current step of `run`, its first and last. */
  add<T>(run: TransactionRun<T>, step: S): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const since = performance.now();
      this.#waiting.push({ run, step, since, resolve: resolve as Waiting["resolve"], reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when the queue is empty. */
  async drained(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    await new Promise(setImmediate); // requests that have already arrived join the group
    while (this.#waiting.length > 0 || this.#postponed.size > 0) {
      const group = this.#waiting.splice(0, GROUP_SIZE);
      try {
        await this.#commit(group);
      } catch (error) {
        for (const { reject } of group) reject(error); // those that are settled ignore it
      }
      if (this.#slot.isSilent) this.#refuseAll();
    }
    this.#running = undefined;
  }

  /** After a silent server, the transactions that wait fail immediately instead of waiting again. None was sent. */
  #refuseAll(): void {
    const refused = [...this.#waiting.splice(0), ...[...this.#postponed.values()].flat()];
    this.#postponed.clear();
    for (const { reject } of refused) reject(silentServer());
  }
}
