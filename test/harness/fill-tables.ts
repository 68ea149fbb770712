import type { Database } from "bun:sqlite";

/** A column of a table, on either engine. */
export interface Column {
  readonly name: string;
  readonly isText: boolean;
}

/**
 * An expression in SQL that gives a column a value in row `i`, another in each row. It keeps what `constraints` says in
 * words of either engine: a list of texts, one number, or a reference to another table. `integer` is what gives an
 * integer without constraints.
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
 * Gives each table of an embedded store that has none a row, with integers that no number of JavaScript holds. Of
 * tables that triggers keep, none is filled. Throws where a row breaks a constraint that `valueOf` does not know.
 */
export function fillEmptyTables(database: Database): void {
  const tables = database.query<TableRow, []>(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'category_animals'",
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
