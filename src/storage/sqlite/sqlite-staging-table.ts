import { type Row, type SqlParameter, type Statement, statement } from "../statement.ts";
import type { StagingTable, StagingTableDefinition } from "../storage.ts";
import type { Transaction } from "../transaction.ts";
import type { Connection } from "./connection.ts";
import { begin, commit, rollback } from "./transaction-statements.ts";

/** Rows per insert statement. Fewer statements cost less time. */
const ROWS = 100;

const types = { integer: "INTEGER", text: "TEXT" };

export interface SqliteStagingTableOptions {
  readonly connection: Connection;
  /** Ends the read transaction. Called before each change of the table, which is a transaction of its own. */
  readonly endRead: () => void;
  readonly all: <R extends Row>(statement: Statement<R>, ...parameters: SqlParameter[]) => R[];
  readonly write: <T>(body: () => Transaction<T>) => Promise<T>;
  /** Runs a checkpoint. The write-ahead log is long after an import. */
  readonly checkpoint: () => void;
  /** Converts an error for the caller. */
  readonly report: (error: unknown) => unknown;
}

/**
 * A table in SQLite's temporary database, which only this connection sees. Its file is in the folder for temporary files
 * (`SQLITE_TMPDIR`, `TMPDIR`, else `/var/tmp`). The file has no name, so the system removes it when the process ends.
 */
export class SqliteStagingTable implements StagingTable {
  readonly #options: SqliteStagingTableOptions;
  readonly #insertOne: Statement;
  readonly #insertMany: Statement;
  readonly #drop: Statement;

  /** Throws `StorageUnavailable`. */
  constructor({ name, columns }: StagingTableDefinition, options: SqliteStagingTableOptions) {
    this.#options = options;
    const names = Object.keys(columns);
    const definitions = Object.entries(columns).map(([column, type], index) =>
      index === 0 ? `${column} ${types[type]} NOT NULL PRIMARY KEY` : `${column} ${types[type]}`,
    );
    const insert = `INSERT INTO temp.${name} (${names.join(", ")}) VALUES`;
    this.#insertOne = statement(`${insert} ${placeholders(1, names.length)}`);
    this.#insertMany = statement(`${insert} ${placeholders(ROWS, names.length)}`);
    this.#drop = statement(`DROP TABLE temp.${name}`);
    this.#run(() => options.connection.run(statement(`CREATE TEMP TABLE ${name} (${definitions.join(", ")}) STRICT`)));
  }

  add(rows: readonly (readonly SqlParameter[])[]): void {
    const { connection } = this.#options;
    this.#run(() => {
      connection.run(begin); // takes no lock on the store, because only the staging table changes
      try {
        let added = 0;
        for (; rows.length - added >= ROWS; added += ROWS) {
          connection.all(this.#insertMany, rows.slice(added, added + ROWS).flat());
        }
        for (const row of rows.slice(added)) connection.all(this.#insertOne, row);
        connection.run(commit);
      } catch (error) {
        if (connection.inTransaction) connection.run(rollback);
        throw error;
      }
    });
  }

  all<R extends Row>(query: Statement<R>, ...parameters: SqlParameter[]): R[] {
    return this.#options.all(query, ...parameters);
  }

  write<T>(body: () => Transaction<T>): Promise<T> {
    return this.#options.write(body);
  }

  async close(): Promise<void> {
    const { connection, checkpoint, report } = this.#options;
    checkpoint();
    try {
      connection.run(this.#drop);
    } catch (error) {
      report(error); // the table disappears with the connection
    }
  }

  #run(work: () => void): void {
    const { endRead, report } = this.#options;
    try {
      endRead();
      work();
    } catch (error) {
      throw report(error);
    }
  }
}

/** `($1, $2), ($3, $4)` for two rows of two columns. */
function placeholders(rows: number, columns: number): string {
  const row = (_: unknown, index: number) =>
    `(${Array.from({ length: columns }, (_column, column) => `$${index * columns + column + 1}`).join(", ")})`;
  return Array.from({ length: rows }, row).join(", ");
}
