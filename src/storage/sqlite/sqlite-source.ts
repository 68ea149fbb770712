import type { Database } from "bun:sqlite";
import { MIGRATIONS_TABLE, type Migration } from "../applied-migrations.ts";
import { StorageUnusable } from "../errors.ts";
import { BATCH, columnList, type MovedTable, type TableStore } from "../move-tables.ts";
import type { IdRow, Row } from "../statement.ts";
import { Connection } from "./connection.ts";
import { isBusy, newDatabase, openExclusive, storeInUse } from "./database.ts";
import { markMoved, markOf } from "./moved-mark.ts";

interface TableRow extends Row {
  name: string;
  columns: string;
}

const readTables = {
  sql: `SELECT name, (SELECT json_group_array(name) FROM pragma_table_info(tables.name)) AS columns
        FROM sqlite_schema AS tables WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid`,
};
/** SQLite has a row here for each table with AUTOINCREMENT that ever had a row, even if an insert named the id. */
const lastGiven = { sql: "SELECT seq AS id FROM sqlite_sequence WHERE name = $1" };

/** An embedded store that is moved. No other process can open the store at the same time. */
export class SqliteSource implements TableStore {
  readonly shown: string;
  readonly #connection: Connection;

  /** Opens the store in `file`. Throws `StorageUnusable`, for example if another process has it open. */
  static open(file: string, migrations: readonly Migration[]): SqliteSource {
    try {
      return new SqliteSource(file, openExclusive(file, migrations));
    } catch (error) {
      if (!isBusy((error as Error).cause)) throw error;
      throw storeInUse(file, error);
    }
  }

  /** A new store in memory. */
  static newInMemory(migrations: readonly Migration[]): SqliteSource {
    return new SqliteSource("memory", newDatabase(migrations));
  }

  private constructor(shown: string, database: Database) {
    this.shown = shown;
    this.#connection = new Connection(database);
  }

  tables(): MovedTable[] {
    const rows = this.#connection.all(readTables, []) as TableRow[];
    return rows
      .filter(({ name }) => name !== MIGRATIONS_TABLE) // the target fills it itself
      .map(({ name, columns }) => ({ name, columns: JSON.parse(columns) as string[] }));
  }

  /** The total number of rows in all tables. */
  count(): number {
    const counts = this.tables().map(({ name }) => `(SELECT count(*) FROM ${name})`);
    return Number(this.#connection.first({ sql: `SELECT ${counts.join(" + ")} AS rows` }, [])?.["rows"]);
  }

  async *rows({ name, columns }: MovedTable): AsyncGenerator<Row[]> {
    yield* this.#connection.batches({ sql: `SELECT ${columnList(columns)} FROM ${name}` }, [], BATCH);
  }

  lastId({ name }: MovedTable): bigint {
    const given = this.#connection.first(lastGiven, [name]) as IdRow | undefined;
    return given?.id ?? 0n;
  }

  /** Marks the store as moved, so that it cannot be opened again. Throws `StorageUnusable` if writing the mark fails. */
  markMoved(to: string): void {
    try {
      markMoved(this.shown, to);
    } catch (error) {
      const message =
        `All was moved to ${to}, but ${markOf(this.shown)} cannot be written: ${(error as Error).message}. Do not start ` +
        "the service on the old store: without that file, nothing stops it. Run the same command again when the file can " +
        "be written.";
      throw new StorageUnusable(message, { cause: error });
    }
  }

  close(): void {
    this.#connection.close();
  }
}
