import { CommitUnknown } from "../errors.ts";
import type { Appended, Row, Statement, Values } from "../statement.ts";
import type { StorageObserver } from "../storage.ts";
import type { AppendStep, TransactionRun } from "../transaction.ts";
import { begin, commitAfter, commitResultLost } from "./commit.ts";
import type { Connection } from "./connection.ts";
import type { ConnectionSlot } from "./connection-slot.ts";
import { endsConnection, isConflict } from "./errors.ts";

/** The maximum number of attempts after conflicts, or after lost connections. */
const ATTEMPTS = 10;

/** A transaction of one append that waits for its result. */
export interface Waiting {
  readonly run: TransactionRun<unknown>;
  readonly step: AppendStep;
  /** When it was added: `performance.now()`. */
  readonly since: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** One statement for one or more members of a group, which append to the same shop. */
export interface GroupStatement {
  readonly members: readonly Waiting[];
  readonly statement: Statement;
  readonly parameters: Values;
}

export interface AppendCommitsOptions {
  readonly slot: ConnectionSlot;
  readonly committed: StorageObserver["committed"];
  /** Converts an error for the caller. */
  readonly report: (error: unknown) => unknown;
}

/** Called with the error of a statement that ran alone. It settles the members or postpones them. */
type OnFailure = (connection: Connection, one: GroupStatement, error: unknown) => void | Promise<void>;

/**
 * Commits the statements of a group in one transaction and one round trip, and settles its members. Each still succeeds
 * or fails independently, unless the response to the commit is lost.
 */
export class AppendCommits {
  readonly #slot: ConnectionSlot;
  readonly #committed: StorageObserver["committed"];
  readonly #report: (error: unknown) => unknown;
  readonly #onFailure: OnFailure;

  constructor({ slot, committed, report }: AppendCommitsOptions, onFailure: OnFailure) {
    this.#slot = slot;
    this.#committed = committed;
    this.#report = report;
    this.#onFailure = onFailure;
  }

  /** Commits the statements together, or if one fails, each alone. Never rejects. */
  async commit(statements: readonly GroupStatement[]): Promise<void> {
    try {
      await this.#commit(statements);
    } catch (error) {
      this.reject(
        statements.flatMap(({ members }) => members),
        error,
      );
    }
  }

  /** Commits each statement alone. Never rejects. */
  async commitEach(connection: Connection, statements: readonly GroupStatement[]): Promise<void> {
    await Promise.all(statements.map((one) => this.#commitAlone(connection, one)));
  }

  reject(members: readonly Waiting[], error: unknown): void {
    const reported = this.#report(error);
    for (const { reject } of members) reject(reported);
  }

  async #commit(statements: readonly GroupStatement[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const connection = await this.#slot.get();
      try {
        if (statements.length > 1 && (await this.#commitTogether(connection, statements))) return;
        return await this.commitEach(connection, statements);
      } catch (error) {
        this.#slot.failed(connection, error);
        // An error that ends the connection, and is not `CommitUnknown`, means that nothing was committed.
        if (error instanceof CommitUnknown || !endsConnection(error) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** Returns false if a statement failed; then all were rolled back. */
  async #commitTogether(connection: Connection, statements: readonly GroupStatement[]): Promise<boolean> {
    const started = performance.now();
    const answers = Promise.all([
      connection.run(begin),
      ...statements.map(({ statement, parameters }) => connection.run(statement, parameters)),
    ]);
    try {
      await commitAfter(connection, answers);
    } catch (error) {
      if (error instanceof CommitUnknown || endsConnection(error)) throw error;
      return false;
    }
    const transactions = statements.reduce((sum, { members }) => sum + members.length, 0);
    this.#committed((performance.now() - started) / 1000, transactions);
    const rows = await answers; // the first are those of BEGIN
    statements.forEach((one, index) => succeedAll(one, rows[index + 1] as Row[]));
    return true;
  }

  /** Runs one statement, which is a transaction without `BEGIN` and `COMMIT`. After a conflict, it runs again. */
  async #commitAlone(connection: Connection, one: GroupStatement): Promise<void> {
    const { members, statement, parameters } = one;
    const started = performance.now();
    for (let attempt = 1; ; attempt++) {
      try {
        const rows = await connection.run(statement, parameters);
        this.#committed((performance.now() - started) / 1000, members.length);
        return succeedAll(one, rows);
      } catch (error) {
        if (isConflict(error) && attempt < ATTEMPTS) continue;
        if (!endsConnection(error)) return this.#onFailure(connection, one, error);
        this.#slot.failed(connection, error);
        return this.reject(members, commitResultLost(error));
      }
    }
  }
}

function succeedAll({ members }: GroupStatement, rows: Row[]): void {
  const [only] = members;
  if (members.length === 1 && only) return succeed(only, rows);
  const first = rows[0] as Appended | undefined;
  members.forEach((waiting, index) =>
    succeed(waiting, first ? [{ ...first, id: first.id + BigInt(index), log_id: first.log_id + BigInt(index) }] : []),
  );
}

function succeed({ run, resolve, reject }: Waiting, rows: Row[]): void {
  try {
    run.advance(rows);
    resolve(run.finish());
  } catch (error) {
    reject(error);
  }
}
