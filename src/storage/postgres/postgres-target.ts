import { MIGRATIONS_TABLE, type Migration } from "../applied-migrations.ts";
import { CommitUnknown } from "../errors.ts";
import { BATCH, columnList, type MovedTable, type TargetStore } from "../move-tables.ts";
import { type EngineSql, jsonWithIntegersAsText, type Row } from "../statement.ts";
import type { PostgresAddress } from "./address.ts";
import { beginReadCommitted, commit } from "./commit.ts";
import { Connection } from "./connection.ts";
import { asStorageError, cannotOpen, endsConnection } from "./errors.ts";
import { prepareSchema } from "./schema.ts";

/** How long a statement may take, and how long the source store may take between two statements, in milliseconds. */
const DEADLINE = 600_000;

/** Tables that are not moved: the engine fills them itself, by migrations or its leader. */
const notMoved: ReadonlySet<string> = new Set([MIGRATIONS_TABLE, "petstore_leader"]);

interface ColumnRow extends Row {
  table_name: string;
  column_name: string;
  data_type: string;
  sequence: string | null;
}

const readColumns: EngineSql<[], ColumnRow> = {
  sql: `SELECT table_name::text, column_name::text, data_type::text,
          CASE is_identity WHEN 'YES' THEN pg_get_serial_sequence(quote_ident(table_name), column_name) END AS sequence
        FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
        WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' AND is_generated = 'NEVER' ORDER BY table_name, ordinal_position`,
};

/**
 * A store in PostgreSQL to which another store is moved. It is filled in one transaction, which locks all tables for
 * writes.
 */
export class PostgresTarget implements TargetStore {
  readonly shown: string;
  readonly #connection: Connection;
  readonly #columns: readonly ColumnRow[];
  readonly #inserts = new Map<MovedTable, EngineSql>();

  /**
   * Creates the schema if there is none, and begins the transaction. Rejects with `StorageUnusable`.
   */
  static async open(address: PostgresAddress, migrations: readonly Migration[]): Promise<PostgresTarget> {
    const { shown } = address;
    let connection: Connection | undefined;
    try {
      connection = await Connection.open({ address, deadline: DEADLINE, idle: DEADLINE });
      await prepareSchema(connection, { shown, create: true, mayMigrate: true, migrations });
      await connection.run(beginReadCommitted);
      const columns = (await connection.run(readColumns)) as unknown as ColumnRow[];
      const store = new PostgresTarget(shown, connection, columns);
      const names = store.tables().map(({ name }) => name);
      await connection.run({ sql: `LOCK TABLE ${names.join(", ")} IN EXCLUSIVE MODE` });
      return store;
    } catch (error) {
      connection?.close();
      throw cannotOpen(shown, error);
    }
  }

  private constructor(shown: string, connection: Connection, columns: readonly ColumnRow[]) {
    this.shown = shown;
    this.#connection = connection;
    this.#columns = columns;
  }

  tables(): MovedTable[] {
    const columns = Map.groupBy(this.#columns, ({ table_name }) => table_name);
    return [...columns]
      .filter(([name]) => !notMoved.has(name))
      .map(([name, list]) => ({ name, columns: list.map(({ column_name }) => column_name) }));
  }

  async *rows({ name, columns }: MovedTable): AsyncGenerator<Row[]> {
    // One cursor name for each table, because the driver caches the result columns by the text of FETCH.
    const cursor = `all_${name}`;
    await this.#run({ sql: `DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT ${columnList(columns)} FROM ${name}` });
    for (;;) {
      const rows = await this.#run({ sql: `FETCH FORWARD ${BATCH} FROM ${cursor}` });
      if (rows.length === 0) break;
      yield rows;
    }
    await this.#run({ sql: `CLOSE ${cursor}` });
  }

  async lastId(table: MovedTable): Promise<bigint> {
    const sequence = this.#sequenceOf(table);
    if (!sequence) return 0n;
    const [row] = await this.#run({
      sql: `SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS id FROM ${sequence}`,
    });
    return row?.["id"] as bigint;
  }

  async clear({ name }: MovedTable): Promise<void> {
    await this.#run({ sql: `DELETE FROM ${name}` });
  }

  async add(table: MovedTable, rows: readonly Row[]): Promise<void> {
    await this.#run(this.#insertInto(table), [jsonWithIntegersAsText(rows)]);
  }

  async setLastId(table: MovedTable, id: bigint): Promise<void> {
    const sequence = this.#sequenceOf(table);
    if (sequence && id > 0n) await this.#run({ sql: "SELECT setval($1::text::regclass, $2)" }, [sequence, id]);
  }

  async commit(): Promise<void> {
    try {
      await this.#connection.run(commit);
    } catch (error) {
      if (!endsConnection(error)) throw asStorageError(error);
      throw new CommitUnknown(
        "The answer of the database to the commit was lost: either all was moved, or nothing. Run the same command " +
          "again: it says which, and moves what was not.",
        { cause: error },
      );
    }
  }

  /** Rolls back if there was no commit. */
  close(): void {
    this.#connection.close();
  }

  #insertInto(table: MovedTable): EngineSql {
    return this.#inserts.getOrInsertComputed(table, ({ name, columns }) => {
      const list = columnList(columns);
      const typed = this.#columns
        .filter(({ table_name }) => table_name === name)
        .map(({ column_name, data_type }) => `"${column_name}" ${data_type}`);
      return {
        sql: `INSERT INTO ${name} (${list}) SELECT ${list} FROM json_to_recordset($1::text::json) AS given (${typed.join(", ")})`,
      };
    });
  }

  #sequenceOf(table: MovedTable): string | undefined {
    return (
      this.#columns.find(({ table_name, sequence }) => table_name === table.name && sequence)?.sequence ?? undefined
    );
  }

  async #run(statement: EngineSql, parameters: Parameters<Connection["run"]>[1] = []): Promise<Row[]> {
    try {
      return await this.#connection.run(statement, parameters);
    } catch (error) {
      throw asStorageError(error);
    }
  }
}
