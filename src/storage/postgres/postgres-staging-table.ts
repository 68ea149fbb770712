import { StorageUnavailable } from "../errors.ts";
import { jsonWithIntegersAsText, type Row, type SqlParameter, type Statement, statement } from "../statement.ts";
import type { StagingTable, StagingTableDefinition, StorageObserver } from "../storage.ts";
import { all, type Transaction } from "../transaction.ts";
import type { Connection } from "./connection.ts";
import { endsConnection } from "./errors.ts";
import { type TransactionSlot, Transactions } from "./transactions.ts";

const types = { integer: "BIGINT", text: "TEXT" };

/** A large import takes longer than the deadline for retries. It may retry anyway: between attempts, it blocks nobody. */
const MIN_ATTEMPTS = 5;

export interface PostgresStagingTableOptions {
  /** Used only by this staging table. */
  readonly connection: Connection;
  readonly committed: StorageObserver["committed"];
  /** Converts an error for the caller. */
  readonly report: (error: unknown) => unknown;
  /** Closes the connection. */
  readonly close: () => void;
}

/** A temporary table of one session. The server drops it with the session. */
export class PostgresStagingTable implements StagingTable {
  readonly #options: PostgresStagingTableOptions;
  readonly #transactions: Transactions;
  readonly #columns: readonly string[];
  readonly #insert: Statement;

  /** Creates the table. Throws the errors of the driver. */
  static async create(
    table: StagingTableDefinition,
    options: PostgresStagingTableOptions,
  ): Promise<PostgresStagingTable> {
    const [key, ...others] = definitionsOf(table);
    await options.connection.run({
      sql: `CREATE TEMP TABLE ${table.name} (${[`${key} NOT NULL PRIMARY KEY`, ...others].join(", ")})`,
    });
    return new PostgresStagingTable(table, options);
  }

  private constructor(table: StagingTableDefinition, options: PostgresStagingTableOptions) {
    const { connection, committed } = options;
    this.#options = options;
    this.#transactions = new Transactions({ slots: [slotOf(connection)], committed, minAttempts: MIN_ATTEMPTS });
    this.#columns = Object.keys(table.columns);
    const names = this.#columns.join(", ");
    // One parameter for all rows, so that the statement does not depend on their number.
    this.#insert = statement(`
      INSERT INTO ${table.name} (${names})
      SELECT ${names} FROM json_to_recordset($1::text::json) AS given (${definitionsOf(table).join(", ")})
    `);
  }

  async add(rows: readonly (readonly SqlParameter[])[]): Promise<void> {
    const records = rows.map((row) => Object.fromEntries(this.#columns.map((name, index) => [name, row[index]])));
    const text = jsonWithIntegersAsText(records); // once, because the transaction may run again
    await this.#run(() => all(this.#insert, text));
  }

  async all<R extends Row>(query: Statement<R>, ...parameters: SqlParameter[]): Promise<R[]> {
    return [...(await this.#run(() => all(query, ...parameters)))];
  }

  write<T>(body: () => Transaction<T>): Promise<T> {
    return this.#run(body);
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

/** A slot that does not reconnect, because the temporary table is lost with the connection. */
function slotOf(connection: Connection): TransactionSlot {
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

function definitionsOf({ columns }: StagingTableDefinition): string[] {
  return Object.entries(columns).map(([name, type]) => `${name} ${types[type]}`);
}
