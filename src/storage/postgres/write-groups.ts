import { CommitUnknown } from "../errors.ts";
import type { Append, Appended, Row, SqlParameter, Statement } from "../statement.ts";
import type { StorageObserver } from "../storage.ts";
import type { AppendStep, Step } from "../transaction.ts";
import type { TransactionRun } from "../transaction-run.ts";
import { appendTogether } from "./append.ts";
import { begin, commitAfter, commitResultLost } from "./commit.ts";
import type { Connection } from "./connection.ts";
import type { ConnectionSlot } from "./connection-slot.ts";
import { endsConnection, isConflict, isLockTimeout } from "./errors.ts";
import { silentServer } from "./silence.ts";

/** The maximum number of transactions in one commit. If one of them fails, all must run again. */
const GROUP_SIZE = 256;
/** The maximum number of attempts after conflicts, or after lost connections. */
const ATTEMPTS = 10;
/** How long an append waits for a shop that another transaction has locked, in milliseconds. */
const PATIENCE = 2_000;

/** A transaction of one statement that waits for its result. */
interface Waiting {
  readonly run: TransactionRun<unknown>;
  readonly step: Step;
  /** When it was added: `performance.now()`. */
  readonly since: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** One statement for one or more members of a group. */
interface Sent {
  readonly members: readonly Waiting[];
  readonly statement: Statement;
  readonly parameters: readonly SqlParameter[];
}

export interface WriteGroupsOptions {
  readonly slot: ConnectionSlot;
  readonly committed: StorageObserver["committed"];
  /** Converts an error for the caller. */
  readonly report: (error: unknown) => unknown;
}

/**
 * The queue of transactions of one statement. Transactions that arrive in one turn of the event loop, or during the
 * previous commit, share one commit and one round trip. Appends to one table of a shop also share one statement.
 * Each transaction still succeeds or fails independently, unless the response to the commit is lost. The appends to a
 * shop that another transaction keeps locked are set aside: between the groups of all others, one such shop is tried.
 */
export class WriteGroups {
  readonly #options: WriteGroupsOptions;
  #waiting: Waiting[] = [];
  /** Appends that were set aside, by shop. The shop that was tried last comes last. */
  readonly #aside = new Map<unknown, Waiting[]>();
  #running: Promise<void> | undefined;

  constructor(options: WriteGroupsOptions) {
    this.#options = options;
  }

  /** `step` is the current step of `run`, its first and last. */
  add<T>(run: TransactionRun<T>, step: Step): Promise<T> {
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
    while (this.#waiting.length > 0 || this.#aside.size > 0) {
      const group: Waiting[] = [];
      for (const waiting of this.#waiting.splice(0, GROUP_SIZE)) {
        (this.#aside.get(shopOf(waiting)) ?? group).push(waiting);
      }
      await this.#settle(group, () => this.#commit(group));
      if (!this.#options.slot.isSilent) await this.#tryAside();
      if (this.#options.slot.isSilent) this.#refuseWaiting();
    }
    this.#running = undefined;
  }

  /** Rejects the members of a group if its work fails. */
  async #settle(group: readonly Waiting[], work: () => Promise<void>): Promise<void> {
    if (group.length === 0) return;
    try {
      await work();
    } catch (error) {
      const reported = this.#options.report(error);
      for (const { reject } of group) reject(reported);
    }
  }

  /** Tries one shop whose appends were set aside. */
  async #tryAside(): Promise<void> {
    const [next] = this.#aside;
    if (!next) return;
    const [shop, members] = next;
    this.#aside.delete(shop);
    const group = members.splice(0, GROUP_SIZE);
    this.#waiting.unshift(...members);
    await this.#settle(group, async () => this.#commitShops(await this.#options.slot.get(), statementsOf(group)));
  }

  /** Sets appends to a locked shop aside, and rejects those that have waited too long. */
  #setAside(members: readonly Waiting[], error: unknown): void {
    for (const waiting of members) {
      if (performance.now() - waiting.since > PATIENCE) {
        waiting.reject(this.#options.report(error));
        continue;
      }
      const shop = shopOf(waiting);
      const others = this.#aside.get(shop);
      if (others) others.push(waiting);
      else this.#aside.set(shop, [waiting]);
    }
  }

  /**
   * After a silent server, the transactions that queued up fail immediately instead of waiting again. None was sent.
   */
  #refuseWaiting(): void {
    const aside = [...this.#aside.values()].flat();
    this.#aside.clear();
    for (const { reject } of [...this.#waiting.splice(0), ...aside]) reject(silentServer());
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const connection = await this.#options.slot.get();
      try {
        const sent = statementsOf(group);
        const [first] = sent;
        if (sent.length === 1 && first) return await this.#commitShop(connection, first);
        const failure = await this.#commitTogether(connection, sent, group.length);
        if (isLockTimeout(failure)) return await this.#commitShops(connection, sent);
        if (failure !== undefined) await Promise.all(group.map((waiting) => this.#commitAlone(connection, waiting)));
        return;
      } catch (error) {
        this.#options.slot.failed(connection, error);
        // An error that ends the connection, and is not `CommitUnknown`, means that nothing was committed.
        if (error instanceof CommitUnknown || !endsConnection(error) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** Runs statements in separate transactions, so that each shop waits only for its own lock. */
  async #commitShops(connection: Connection, sent: readonly Sent[]): Promise<void> {
    await Promise.all(sent.map((one) => this.#settle(one.members, () => this.#commitShop(connection, one))));
  }

  /** Runs one statement, or if it fails, each of its members alone. Sets the members aside if their shop is locked. */
  async #commitShop(connection: Connection, sent: Sent): Promise<void> {
    const { members } = sent;
    const failure = members.length > 1 ? await this.#commitStatement(connection, sent) : undefined;
    if (isLockTimeout(failure)) this.#setAside(members, failure);
    else if (members.length === 1 || failure !== undefined)
      await Promise.all(members.map((one) => this.#commitAlone(connection, one)));
  }

  /**
   * Runs one statement, which is a transaction without `BEGIN` and `COMMIT`. Returns the error if it failed; then nothing
   * was committed.
   */
  async #commitStatement(connection: Connection, sent: Sent): Promise<unknown> {
    const started = performance.now();
    let rows: Row[];
    try {
      rows = await connection.run(sent.statement, sent.parameters);
    } catch (error) {
      if (!endsConnection(error)) return error;
      this.#options.slot.failed(connection, error);
      throw commitResultLost(error);
    }
    this.#options.committed((performance.now() - started) / 1000, sent.members.length);
    succeedAll(sent, rows);
    return undefined;
  }

  /** Returns the error if a member failed; then all were rolled back. */
  async #commitTogether(connection: Connection, sent: readonly Sent[], transactions: number): Promise<unknown> {
    const started = performance.now();
    const answers = Promise.all([
      connection.run(begin),
      ...sent.map(({ statement, parameters }) => connection.run(statement, parameters)),
    ]);
    try {
      await commitAfter(connection, answers);
    } catch (error) {
      if (error instanceof CommitUnknown || endsConnection(error)) throw error;
      return error;
    }
    this.#options.committed((performance.now() - started) / 1000, transactions);
    const rows = await answers; // the first are those of BEGIN
    sent.forEach((one, index) => succeedAll(one, rows[index + 1] as Row[]));
    return undefined;
  }

  /** Runs one member, and settles its promise. */
  async #commitAlone(connection: Connection, waiting: Waiting): Promise<void> {
    const [{ statement, parameters }] = statementsOf([waiting]) as [Sent];
    const started = performance.now();
    for (let attempt = 1; ; attempt++) {
      try {
        const rows = await connection.run(statement, parameters);
        this.#options.committed((performance.now() - started) / 1000, 1);
        return succeed(waiting, rows);
      } catch (error) {
        if (isConflict(error) && attempt < ATTEMPTS) continue;
        if (isLockTimeout(error) && waiting.step.append) return this.#setAside([waiting], error);
        this.#options.slot.failed(connection, error);
        return waiting.reject(this.#options.report(endsConnection(error) ? commitResultLost(error) : error));
      }
    }
  }
}

/**
 * Returns the statements of a group. Shops are in ascending order: each gets locked, and a fixed order avoids
 * deadlocks.
 */
function statementsOf(group: readonly Waiting[]): Sent[] {
  const appends = new Map<Append["insertAll"], Map<number, Waiting[]>>();
  const sent: Sent[] = [];
  for (const waiting of group) {
    const { step } = waiting;
    if (!step.append) {
      sent.push({ members: [waiting], statement: step.statement, parameters: step.parameters });
      continue;
    }
    const { insertAll } = step.append;
    const shops = appends.get(insertAll) ?? new Map<number, Waiting[]>();
    appends.set(insertAll, shops);
    const members = shops.get(step.shop);
    if (members) members.push(waiting);
    else shops.set(step.shop, [waiting]);
  }
  for (const shops of appends.values()) {
    const ordered = shops.size === 1 ? shops : [...shops].toSorted(([one], [other]) => one - other);
    for (const [, members] of ordered) {
      const steps = members.map(({ step }) => step as AppendStep) as [AppendStep, ...AppendStep[]];
      const [statement, parameters] = appendTogether(steps);
      sent.push({ members, statement, parameters });
    }
  }
  return sent;
}

/** The shop that an append locks. */
function shopOf({ step }: Waiting): unknown {
  return step.append && step.shop;
}

function succeedAll({ members }: Sent, rows: Row[]): void {
  const [only] = members;
  if (members.length === 1 && only) return succeed(only, rows);
  const first = rows[0] as Appended | undefined;
  members.forEach((waiting, index) => succeed(waiting, first ? [{ ...first, id: first.id + BigInt(index) }] : []));
}

function succeed({ run, resolve, reject }: Waiting, rows: Row[]): void {
  try {
    run.advance(rows);
    resolve(run.finish());
  } catch (error) {
    reject(error);
  }
}
