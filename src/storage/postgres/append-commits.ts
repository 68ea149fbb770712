import { CommitUnknown } from "../errors.ts";
import type { Appended, Row, Statement, Values } from "../statement.ts";
import type { StorageObserver } from "../storage.ts";
import type { AppendStep, TransactionRun } from "../transaction.ts";
import { appendStatement, eachAppended } from "./append.ts";
import { begin, commitAfter, commitResultLost } from "./commit.ts";
import type { Connection } from "./connection.ts";
import type { ConnectionSlot } from "./connection-slot.ts";
import { endsConnection, isConflict, isLockTimeout } from "./errors.ts";

/** The maximum number of attempts after conflicts, or after lost connections. */
const ATTEMPTS = 10;

/** A transaction of one append that waits for its result. */
export interface WaitingAppend {
  readonly run: TransactionRun<unknown>;
  readonly step: AppendStep;
  /** The shop. */
  readonly payer: number;
  /** When it was added: `performance.now()`. */
  readonly since: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** One statement for one or more members of a group, which append to the same shop. */
export interface GroupStatement {
  readonly members: readonly WaitingAppend[];
  readonly statement: Statement;
  readonly parameters: Values;
}

export function statementOf(members: readonly WaitingAppend[]): GroupStatement {
  const [statement, parameters] = appendStatement(members.map(({ step }) => step));
  return { members, statement, parameters };
}

/** Members that failed alike. */
interface Failed {
  readonly members: readonly WaitingAppend[];
  readonly error: unknown;
}

/**
 * Commits the statements of a group in one transaction and one round trip, and settles those of its members that succeed.
 * Each still succeeds or fails independently, unless the response to the commit is lost.
 */
export class AppendCommits {
  readonly #slot: ConnectionSlot;
  readonly #committed: StorageObserver["committed"];

  constructor(slot: ConnectionSlot, committed: StorageObserver["committed"]) {
    this.#slot = slot;
    this.#committed = committed;
  }

  /**
   * Commits the statements together, or if one fails, each alone. Returns the members that failed. Throws an error of all
   * of them.
   */
  async commit(statements: readonly GroupStatement[]): Promise<Failed[]> {
    for (let attempt = 1; ; attempt++) {
      const connection = await this.#slot.get();
      try {
        const counted = statements.length > 1 ? await this.#commitTogether(connection, statements) : undefined;
        return counted ?? (await this.#commitEach(connection, statements));
      } catch (error) {
        this.#slot.failed(connection, error);
        // An error that ends the connection, and is not `CommitUnknown`, means that nothing was committed.
        if (error instanceof CommitUnknown || !endsConnection(error) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async #commitEach(connection: Connection, statements: readonly GroupStatement[]): Promise<Failed[]> {
    return (await Promise.all(statements.map((one) => this.#commitAlone(connection, one)))).flat();
  }

  /** Undefined if a statement failed; then all were rolled back. */
  async #commitTogether(connection: Connection, statements: readonly GroupStatement[]): Promise<Failed[] | undefined> {
    const started = performance.now();
    const answers = Promise.all([
      connection.run(begin),
      ...statements.map(({ statement, parameters }) => connection.run(statement, parameters)),
    ]);
    try {
      await commitAfter(connection, answers);
    } catch (error) {
      if (error instanceof CommitUnknown || endsConnection(error)) throw error;
      return undefined;
    }
    const transactions = statements.reduce((sum, { members }) => sum + members.length, 0);
    this.#committed((performance.now() - started) / 1000, transactions);
    const rows = await answers; // the first are those of BEGIN
    const settled = statements.map((one, index) => this.#settle(connection, one, rows[index + 1] as Row[]));
    return (await Promise.all(settled)).flat();
  }

  /**
   * Runs one statement, which is a transaction without `BEGIN` and `COMMIT`. After a conflict, it runs again; after another error of
   * several members, each member runs alone, unless their shop is locked.
   */
  async #commitAlone(connection: Connection, one: GroupStatement): Promise<Failed[]> {
    const { members, statement, parameters } = one;
    const started = performance.now();
    for (let attempt = 1; ; attempt++) {
      try {
        const rows = await connection.run(statement, parameters);
        this.#committed((performance.now() - started) / 1000, members.length);
        return await this.#settle(connection, one, rows);
      } catch (error) {
        if (isConflict(error) && attempt < ATTEMPTS) continue;
        if (endsConnection(error)) {
          this.#slot.failed(connection, error);
          return [{ members, error: commitResultLost(error) }];
        }
        if (members.length === 1 || isLockTimeout(error)) return [{ members, error }];
        return this.#commitMembers(connection, members);
      }
    }
  }

  /** Settles the members of a statement. If it has counted no row for several, each runs alone. */
  async #settle(connection: Connection, one: GroupStatement, rows: Row[]): Promise<Failed[]> {
    if (rows.length === 0 && one.members.length > 1) return this.#commitMembers(connection, one.members);
    succeedAll(one, rows);
    return [];
  }

  #commitMembers(connection: Connection, members: readonly WaitingAppend[]): Promise<Failed[]> {
    return this.#commitEach(
      connection,
      members.map((member) => statementOf([member])),
    );
  }
}

function succeedAll({ members }: GroupStatement, rows: Row[]): void {
  const [only] = members;
  if (members.length === 1 && only) return succeed(only, rows);
  for (const [index, appended] of eachAppended(rows[0] as Appended, members.length).entries()) {
    succeed(members[index] as WaitingAppend, [appended]);
  }
}

function succeed({ run, resolve, reject }: WaitingAppend, rows: Row[]): void {
  try {
    run.advance(rows);
    resolve(run.finish());
  } catch (error) {
    reject(error);
  }
}
