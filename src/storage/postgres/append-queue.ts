import type { StorageObserver } from "../storage.ts";
import { type AppendStep, isSameAppend, type TransactionRun } from "../transaction.ts";
import { WaitingByPayer } from "../waiting-by-payer.ts";
import { AppendCommits, type GroupStatement, statementOf, type WaitingAppend } from "./append-commits.ts";
import type { ConnectionSlot } from "./connection-slot.ts";
import { isLockTimeout } from "./errors.ts";
import { silentServer } from "./silence.ts";

/** The maximum number of transactions in one commit. They take about 5 ms. If one of them fails, all must run again. */
const GROUP_SIZE = 256;
/** How long an append waits for a shop that another transaction has locked, in milliseconds. */
const LOCK_DEADLINE = 2_000;

interface AppendQueueOptions {
  readonly slot: ConnectionSlot;
  readonly committed: StorageObserver["committed"];
  /** Converts an error for the caller. */
  readonly report: (error: unknown) => unknown;
}

/**
 * A queue of transactions of one append. Those that arrive in one turn of the event loop, or during the previous commit,
 * are one group, in which those to one shop share one statement. A group takes them shop by shop; what is too many comes
 * after other shops in the next one. Those to a shop that another transaction keeps locked
 * are postponed: between the groups of all others, one such shop is tried.
 */
export class AppendQueue {
  readonly #slot: ConnectionSlot;
  readonly #commits: AppendCommits;
  readonly #report: (error: unknown) => unknown;
  readonly #waiting = new WaitingByPayer<WaitingAppend>();
  /** Appends to locked shops, by shop. The shop that was tried last comes last. */
  readonly #postponed = new Map<number, WaitingAppend[]>();
  #running: Promise<void> | undefined;

  constructor({ slot, committed, report }: AppendQueueOptions) {
    this.#slot = slot;
    this.#commits = new AppendCommits(slot, committed);
    this.#report = report;
  }

  /** `step` is the current step of `run`, its first and last. */
  add<T>(run: TransactionRun<T>, step: AppendStep): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const since = performance.now();
      const payer = step.shop;
      this.#waiting.add({ run, step, payer, since, resolve: resolve as WaitingAppend["resolve"], reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when the queue is empty. */
  async drained(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    await new Promise(setImmediate); // requests that have already arrived join the group
    while (!this.#waiting.isEmpty || this.#postponed.size > 0) {
      await this.#serve(this.#take(GROUP_SIZE));
      if (this.#slot.isSilent) this.#refuseAll();
    }
    this.#running = undefined;
  }

  #take(most?: number): WaitingAppend[] {
    const taken = this.#waiting.next(most);
    this.#waiting.remove(taken);
    return taken;
  }

  async #serve(group: readonly WaitingAppend[]): Promise<void> {
    const ready: WaitingAppend[] = [];
    for (const waiting of group) (this.#postponed.get(waiting.step.shop) ?? ready).push(waiting);
    if (ready.length > 0) await this.#commit(ready);
    if (!this.#slot.isSilent) await this.#tryLockedShop();
  }

  async #tryLockedShop(): Promise<void> {
    const [next] = this.#postponed;
    if (!next) return;
    const [shop, members] = next;
    this.#postponed.delete(shop);
    await this.#commit(members.slice(0, GROUP_SIZE));
    for (const waiting of members.slice(GROUP_SIZE)) this.#postpone(waiting);
  }

  /** Never rejects. */
  async #commit(group: readonly WaitingAppend[]): Promise<void> {
    try {
      for (const { members, error } of await this.#commits.commit(statementsOf(group))) {
        if (isLockTimeout(error)) this.#shopIsLocked(members, error);
        else this.#reject(members, error);
      }
    } catch (error) {
      this.#reject(group, error); // those that are settled ignore it
    }
  }

  /** Postpones appends, except those that have waited too long. */
  #shopIsLocked(members: readonly WaitingAppend[], error: unknown): void {
    for (const waiting of members) {
      if (performance.now() - waiting.since > LOCK_DEADLINE) this.#reject([waiting], error);
      else this.#postpone(waiting);
    }
  }

  #reject(members: readonly WaitingAppend[], error: unknown): void {
    const reported = this.#report(error);
    for (const { reject } of members) reject(reported);
  }

  #postpone(waiting: WaitingAppend): void {
    this.#postponed.getOrInsertComputed(waiting.step.shop, () => []).push(waiting);
  }

  /** After a silent server, the transactions that wait fail immediately instead of waiting again. None was sent. */
  #refuseAll(): void {
    this.#reject([...this.#take(), ...[...this.#postponed.values()].flat()], silentServer());
    this.#postponed.clear();
  }
}

/**
 * The statements of a group, one for each shop. Each locks its shop. They are in ascending order of the shops, because a
 * fixed order avoids deadlocks.
 */
function statementsOf(group: readonly WaitingAppend[]): GroupStatement[] {
  const statements: [WaitingAppend, ...WaitingAppend[]][] = [];
  for (const waiting of group.toSorted((one, other) => one.step.shop - other.step.shop)) {
    const members = statements.at(-1);
    if (members && isSameAppend(members[0].step, waiting.step)) members.push(waiting);
    else statements.push([waiting]);
  }
  return statements.map(statementOf);
}
