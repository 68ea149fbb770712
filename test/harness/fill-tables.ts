import type { Database } from "bun:sqlite";

/** A column of a table, on either engine. */
export interface Column {
  readonly name: string;
  readonly isText: boolean;
}

/**
 * An SQL expression for the value of a column in row `i`, which differs from row to row. The value satisfies
 * `constraints`, written as either engine does: a list of texts, one number, or a reference to another table. `integer`
 * is the expression for an integer without constraints.
 */
export function valueOf({ name, isText }: Column, constraints: string, integer: string): string {
  const find = (rest: string) => new RegExp(`\\b${name}"?\\)?${rest}`).exec(constraints)?.slice(1);
  const [text] = find(" (?:IN \\(|= ANY \\(+ARRAY\\[)('[^']*')") ?? [];
  const [number] = find(" = (\\d+)") ?? [];
  const [table, column] = find("[^,]* REFERENCES (\\w+) ?\\((\\w+)\\)") ?? [];
  if (table !== undefined) return `(SELECT ${column} FROM ${table} LIMIT 1)`;
  return text ?? number ?? (isText ? `'"Ñandú" \\ 🐕 ' || i` : integer);
}

interface TableRow {
  readonly name: string;
  readonly sql: string;
}

/**
 * Adds a row to each empty table of an embedded store, with integers that a JavaScript number cannot represent. Throws if a row breaks a constraint that `valueOf` does not know.
 */
export function fillEmptyTables(database: Database): void {
  const tables = database.query<TableRow, []>(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  for (const { name, sql } of tables.all()) {
    if (database.query(`SELECT 1 FROM ${name} LIMIT 1`).get()) continue;
    const columns = database.query<{ name: string; type: string }, []>(
      `SELECT name, type FROM pragma_table_info('${name}')`,
    );
    const values = columns
      .all()
      .map((column) => valueOf({ name: column.name, isText: column.type === "TEXT" }, sql, "9007199254740993 + i"));
    database.run(`INSERT INTO ${name} SELECT ${values.join(", ")} FROM (SELECT 1 AS i)`);
  }
}

interface ColumnRow {
  readonly table: string;
  readonly name: string;
  readonly isText: boolean;
  readonly constraints: string | null;
}

/**
 * SQL that adds this many rows to each empty table of a PostgreSQL store. `values` has expressions by column name, for
 * all tables. Rows that violate a unique constraint are skipped.
 */
export async function insertsForEmptyTables(
  run: <R>(sql: string) => Promise<R[]>,
  rows: number,
  values: Readonly<Record<string, string>> = {},
): Promise<string> {
  const columns = await run<ColumnRow>(`
    SELECT table_name::text AS "table", column_name::text AS name, data_type = 'text' AS "isText",
      (SELECT string_agg(pg_get_constraintdef(oid), ', ') FROM pg_constraint WHERE conrelid = table_name::regclass) AS constraints
    FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' AND is_generated = 'NEVER' ORDER BY ordinal_position`);
  const inserts: string[] = [];
  for (const [table, list] of Map.groupBy(columns, (column) => column.table)) {
    if ((await run(`SELECT 1 FROM ${table} LIMIT 1`)).length > 0) continue;
    const each = list.map((column) => values[column.name] ?? valueOf(column, column.constraints ?? "", "i"));
    const names = list.map(({ name }) => name);
    inserts.push(
      `INSERT INTO ${table} (${names.join(", ")}) SELECT ${each.join(", ")} FROM generate_series(1, ${rows}) AS i ON CONFLICT DO NOTHING;`,
    );
  }
  return inserts.join("\n");
}
