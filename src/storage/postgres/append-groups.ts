import type { AppendStep } from "../transaction.ts";
import { appendTogether } from "./append.ts";
import type { Connection } from "./connection.ts";
import { isLockTimeout } from "./errors.ts";
import { GroupCommits, type GroupCommitsOptions, type GroupStatement } from "./group-commits.ts";
import { GROUP_SIZE, GroupQueue, type Waiting } from "./group-queue.ts";

/** How long an append waits for a shop that another transaction has locked, in milliseconds. */
const LOCK_DEADLINE = 2_000;

type WaitingAppend = Waiting<AppendStep>;

/** The queue of transactions of one append. */
export function appendGroups(options: GroupCommitsOptions): GroupQueue<AppendStep> {
  const groups = new AppendGroups(options);
  return new GroupQueue(options.slot, (group) => groups.commit(group), groups.postponed);
}

/**
 * Commits groups of appends. Those to one shop share one statement. Those to a shop that another transaction keeps locked
 * are postponed: between the groups of all others, one such shop is tried.
 */
class AppendGroups {
  /** Appends to locked shops, by shop. The shop that was tried last comes last. */
  readonly postponed = new Map<number, WaitingAppend[]>();
  readonly #options: GroupCommitsOptions;
  readonly #commits: GroupCommits<AppendStep>;

  constructor(options: GroupCommitsOptions) {
    this.#options = options;
    this.#commits = new GroupCommits(options, (connection, one, error) => this.#failed(connection, one, error));
  }

  async commit(group: readonly WaitingAppend[]): Promise<void> {
    const ready: WaitingAppend[] = [];
    for (const waiting of group) (this.postponed.get(waiting.step.shop) ?? ready).push(waiting);
    if (ready.length > 0) await this.#commits.commit(statementsOf(ready));
    if (!this.#options.slot.isSilent) await this.#tryLockedShop();
  }

  async #tryLockedShop(): Promise<void> {
    const [next] = this.postponed;
    if (!next) return;
    const [shop, members] = next;
    this.postponed.delete(shop);
    await this.#commits.commit(statementsOf(members.slice(0, GROUP_SIZE)));
    for (const waiting of members.slice(GROUP_SIZE)) this.#postpone(waiting);
  }

  #failed(connection: Connection, { members }: GroupStatement<AppendStep>, error: unknown): void | Promise<void> {
    if (isLockTimeout(error)) return this.#shopIsLocked(members, error);
    if (members.length === 1) return this.#commits.reject(members, error);
    const each = members.map((waiting) => statementOf([waiting]));
    return this.#commits.commitEach(connection, each);
  }

  /** Postpones appends, except those that have waited too long. */
  #shopIsLocked(members: readonly WaitingAppend[], error: unknown): void {
    for (const waiting of members) {
      if (performance.now() - waiting.since > LOCK_DEADLINE) this.#commits.reject([waiting], error);
      else this.#postpone(waiting);
    }
  }

  #postpone(waiting: WaitingAppend): void {
    const { shop } = waiting.step;
    const others = this.postponed.get(shop);
    if (others) others.push(waiting);
    else this.postponed.set(shop, [waiting]);
  }
}

/**
 * The statements of a group, one for each shop. Each locks its shop. They are in ascending order of the shops, because a
 * fixed order avoids deadlocks.
 */
function statementsOf(group: readonly WaitingAppend[]): GroupStatement<AppendStep>[] {
  const statements: [WaitingAppend, ...WaitingAppend[]][] = [];
  for (const waiting of group.toSorted((one, other) => one.step.shop - other.step.shop)) {
    const members = statements.at(-1);
    if (members && isSameAppend(members[0].step, waiting.step)) members.push(waiting);
    else statements.push([waiting]);
  }
  return statements.map(statementOf);
}

function isSameAppend(one: AppendStep, other: AppendStep): boolean {
  return one.shop === other.shop && one.append.insertAll === other.append.insertAll;
}

function statementOf(members: readonly WaitingAppend[]): GroupStatement<AppendStep> {
  const [statement, parameters] = appendTogether(members.map(({ step }) => step));
  return { members, statement, parameters };
}
