import { type AppendStep, isSameAppend, type TransactionRun } from "../transaction.ts";
import { appendStatement } from "./append.ts";
import { AppendCommits, type AppendCommitsOptions, type GroupStatement, type Waiting } from "./append-commits.ts";
import type { Connection } from "./connection.ts";
import type { ConnectionSlot } from "./connection-slot.ts";
import { isLockTimeout } from "./errors.ts";
import { silentServer } from "./silence.ts";

/** The maximum number of transactions in one commit. If one of them fails, all must run again. */
const GROUP_SIZE = 256;
/** How long an append waits for a shop that another transaction has locked, in milliseconds. */
const LOCK_DEADLINE = 2_000;

/**
 * A queue of transactions of one append. Those that arrive in one turn of the event loop, or during the previous commit,
 * are one group, in which those to one shop share one statement. Those to a shop that another transaction keeps locked
 * are postponed: between the groups of all others, one such shop is tried.
 */
export class AppendQueue {
  readonly #slot: ConnectionSlot;
  readonly #commits: AppendCommits;
  #waiting: Waiting[] = [];
  /** Appends to locked shops, by shop. The shop that was tried last comes last. */
  readonly #postponed = new Map<number, Waiting[]>();
  #running: Promise<void> | undefined;

  constructor(options: AppendCommitsOptions) {
    this.#slot = options.slot;
    this.#commits = new AppendCommits(options, (connection, one, error) => this.#failed(connection, one, error));
  }

  /** `step` is the current step of `run`, its first and last. */
  add<T>(run: TransactionRun<T>, step: AppendStep): Promise<T> {
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

  async #commit(group: readonly Waiting[]): Promise<void> {
    const ready: Waiting[] = [];
    for (const waiting of group) (this.#postponed.get(waiting.step.shop) ?? ready).push(waiting);
    if (ready.length > 0) await this.#commits.commit(statementsOf(ready));
    if (!this.#slot.isSilent) await this.#tryLockedShop();
  }

  async #tryLockedShop(): Promise<void> {
    const [next] = this.#postponed;
    if (!next) return;
    const [shop, members] = next;
    this.#postponed.delete(shop);
    await this.#commits.commit(statementsOf(members.slice(0, GROUP_SIZE)));
    for (const waiting of members.slice(GROUP_SIZE)) this.#postpone(waiting);
  }

  #failed(connection: Connection, { members }: GroupStatement, error: unknown): void | Promise<void> {
    if (isLockTimeout(error)) return this.#shopIsLocked(members, error);
    if (members.length === 1) return this.#commits.reject(members, error);
    const each = members.map((waiting) => statementOf([waiting]));
    return this.#commits.commitEach(connection, each);
  }

  /** Postpones appends, except those that have waited too long. */
  #shopIsLocked(members: readonly Waiting[], error: unknown): void {
    for (const waiting of members) {
      if (performance.now() - waiting.since > LOCK_DEADLINE) this.#commits.reject([waiting], error);
      else this.#postpone(waiting);
    }
  }

  #postpone(waiting: Waiting): void {
    const { shop } = waiting.step;
    const others = this.#postponed.get(shop);
    if (others) others.push(waiting);
    else this.#postponed.set(shop, [waiting]);
  }

  /** After a silent server, the transactions that wait fail immediately instead of waiting again. None was sent. */
  #refuseAll(): void {
    const refused = [...this.#waiting.splice(0), ...[...this.#postponed.values()].flat()];
    this.#postponed.clear();
    for (const { reject } of refused) reject(silentServer());
  }
}

/**
 * The statements of a group, one for each shop. Each locks its shop. They are in ascending order of the shops, because a
 * fixed order avoids deadlocks.
 */
function statementsOf(group: readonly Waiting[]): GroupStatement[] {
  const statements: [Waiting, ...Waiting[]][] = [];
  for (const waiting of group.toSorted((one, other) => one.step.shop - other.step.shop)) {
    const members = statements.at(-1);
    if (members && isSameAppend(members[0].step, waiting.step)) members.push(waiting);
    else statements.push([waiting]);
  }
  return statements.map(statementOf);
}

function statementOf(members: readonly Waiting[]): GroupStatement {
  const [statement, parameters] = appendStatement(members.map(({ step }) => step));
  return { members, statement, parameters };
}
