import {
  all,
  nested,
  type Row,
  type SqlParameter,
  type Stage,
  type StagedTable,
  type Statement,
  type StorageObserver,
  StorageUnavailable,
  statement,
  type Transaction,
} from "../storage.ts";
import type { Connection } from "./connection.ts";
import { endsConnection } from "./errors.ts";
import { type TransactionLink, Transactions } from "./transactions.ts";

const types = { integer: "BIGINT", text: "TEXT" };

/** A stage has its connection to itself, so that nobody waits behind it; a large import takes longer than it may wait. */
const LEAST_ATTEMPTS = 5;

/** What a stage needs of its store. */
export interface PostgresStageOptions {
  /** For this stage alone. */
  readonly connection: Connection;
  readonly committed: StorageObserver["committed"];
  /** The error to tell for one that was thrown. */
  readonly report: (error: unknown) => unknown;
  /** Closes the connection. */
  readonly close: () => void;
}

/** A temporary table of one session, which the server drops with the session. */
export class PostgresStage implements Stage {
  readonly #options: PostgresStageOptions;
  readonly #transactions: Transactions;
  readonly #columns: readonly string[];
  readonly #insert: Statement;
  readonly #ids: IdSequence | undefined;

  /** Makes the table. Throws the errors of the driver. */
  static async create(table: StagedTable, options: PostgresStageOptions): Promise<PostgresStage> {
    const [key, ...others] = definitionsOf(table);
    await options.connection.run({
      sql: `CREATE TEMP TABLE ${table.name} (${[`${key} NOT NULL PRIMARY KEY`, ...others].join(", ")})`,
    });
    return new PostgresStage(table, options);
  }

  private constructor(table: StagedTable, options: PostgresStageOptions) {
    const { connection, committed } = options;
    this.#options = options;
    this.#transactions = new Transactions({ links: [onlyLink(connection)], committed, leastAttempts: LEAST_ATTEMPTS });
    this.#columns = Object.keys(table.columns);
    this.#ids = table.ids && new IdSequence(table.ids.table, this.#columns.indexOf(table.ids.column));
    const names = this.#columns.join(", ");
    // One parameter for all rows: their number is then no part of the statement.
    this.#insert = statement(`
      INSERT INTO ${table.name} (${names})
      SELECT ${names} FROM json_to_recordset($1::text::json) AS given (${definitionsOf(table).join(", ")})
    `);
  }

  async add(rows: readonly (readonly SqlParameter[])[]): Promise<void> {
    const records = rows.map((row) => Object.fromEntries(this.#columns.map((name, index) => [name, row[index]])));
    const text = JSON.stringify(records, (_, value) => (typeof value === "bigint" ? String(value) : value));
    await this.#run(() => all(this.#insert, text));
    this.#ids?.note(rows);
  }

  async all<R extends Row>(text: Statement<R>, ...parameters: SqlParameter[]): Promise<R[]> {
    return [...(await this.#run(() => all(text, ...parameters)))];
  }

  async write<T>(body: () => Transaction<T>): Promise<T> {
    const ids = this.#ids;
    if (!ids?.isBehind) return this.#run(body);
    const value = await this.#run(function* () {
      const result = yield* nested(body());
      yield* ids.pass();
      return result;
    });
    ids.passed();
    return value;
  }

  async close(): Promise<void> {
    this.#options.close();
  }

  async #run<T>(body: () => Transaction<T>): Promise<T> {
    try {
      return await this.#transactions.run(body);
    } catch (error) {
      throw this.#options.report(error);
    }
  }
}

/** The sequence that gives a table its ids. It has to be moved behind ids that rows bring along. */
class IdSequence {
  readonly #column: number;
  readonly #lock: Statement;
  readonly #move: Statement;
  /** The largest id that was staged, and where the sequence was moved to. 0: nowhere. */
  #largest = 0n;
  #reached = 0n;

  /** `column` is where the ids stand in a row. */
  constructor(table: string, column: number) {
    this.#column = column;
    const name = `${table}_id_seq`;
    // It changes nothing, but locks: between the look and the move, nobody gets an id.
    this.#lock = statement(`ALTER SEQUENCE ${name} NO CYCLE`);
    this.#move = statement(`SELECT setval('${name}', GREATEST(last_value, $1)) FROM ${name}`);
  }

  get isBehind(): boolean {
    return this.#reached < this.#largest;
  }

  note(rows: readonly (readonly SqlParameter[])[]): void {
    for (const row of rows) {
      const id = BigInt(row[this.#column] ?? 0);
      if (id > this.#largest) this.#largest = id;
    }
  }

  /** The end of a transaction: moves the sequence behind all ids that were staged, unless it is there already. */
  *pass(): Transaction<void> {
    yield* all(this.#lock);
    yield* all(this.#move, this.#largest);
  }

  passed(): void {
    this.#reached = this.#largest;
  }
}

/** What is staged is gone with the connection, so that another one would be of no use. */
function onlyLink(connection: Connection): TransactionLink {
  return {
    get: () => {
      if (connection.isOpen) return connection;
      throw new StorageUnavailable("The connection to the database was lost, and what was staged with it.");
    },
    failed: (_, error) => {
      if (endsConnection(error)) connection.close();
    },
  };
}

function definitionsOf({ columns }: StagedTable): string[] {
  return Object.entries(columns).map(([name, type]) => `${name} ${types[type]}`);
}
