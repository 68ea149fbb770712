import { type Row, type SqlParameter, type Statement, statement } from "../statement.ts";
import type { Stage, StagedTable } from "../storage.ts";
import type { Transaction } from "../transaction.ts";
import type { Connection } from "./connection.ts";

/** Rows that one statement adds: each statement costs as much as some rows. */
const ROWS = 100;

/** Not IMMEDIATE: what changes nothing but the staged table then locks nothing of the store. */
const begin: Statement = { sql: "BEGIN" };
const commit: Statement = { sql: "COMMIT" };
const rollback: Statement = { sql: "ROLLBACK" };

const types = { integer: "INTEGER", text: "TEXT" };

/** What a stage needs of its store. */
export interface SqliteStageOptions {
  readonly connection: Connection;
  /** Called before each use: the connection must be in no transaction. */
  readonly prepare: () => void;
  readonly all: <R extends Row>(statement: Statement<R>, ...parameters: SqlParameter[]) => R[];
  readonly write: <T>(body: () => Transaction<T>) => Promise<T>;
  /** Moves the write-ahead log, which is long after rows were brought in, into the file of the store. */
  readonly moveLog: () => void;
  /** The error to tell for one that was thrown. */
  readonly report: (error: unknown) => unknown;
}

/**
 * A table of SQLite's temporary database: a file of this connection alone, in the folder for temporary
 * files (`SQLITE_TMPDIR`, `TMPDIR`, else `/var/tmp`). It has no name there, so that the system removes
 * it with the process.
 */
export class SqliteStage implements Stage {
  readonly #options: SqliteStageOptions;
  readonly #insertOne: Statement;
  readonly #insertMany: Statement;
  readonly #drop: Statement;

  /** Throws `StorageUnavailable`. */
  constructor({ name, columns }: StagedTable, options: SqliteStageOptions) {
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
      connection.run(begin);
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

  all<R extends Row>(text: Statement<R>, ...parameters: SqlParameter[]): R[] {
    return this.#options.all(text, ...parameters);
  }

  write<T>(body: () => Transaction<T>): Promise<T> {
    return this.#options.write(body);
  }

  async close(): Promise<void> {
    const { connection, moveLog, report } = this.#options;
    moveLog();
    try {
      connection.run(this.#drop);
    } catch (error) {
      report(error); // what is staged is gone with the connection
    }
  }

  #run(work: () => void): void {
    const { prepare, report } = this.#options;
    try {
      prepare();
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
