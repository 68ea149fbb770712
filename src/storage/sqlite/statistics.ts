import type { Database } from "bun:sqlite";

/** The row counts given to the planner: of a whole table, and of one shop in it. */
const ROWS = 10_000_000;
const ROWS_OF_SHOP = 100_000;
/** Of the rows that share a prefix of an index's columns, the fraction that also share the next column. */
const SHARE = 0.3;

interface IndexRow {
  readonly tableName: string;
  readonly indexName: string;
  readonly columns: bigint;
  readonly isUnique: bigint;
  readonly isPartial: bigint;
  readonly isKey: bigint;
}

const indexesByShop = `
  SELECT tables.name AS tableName, indexes.name AS indexName, indexes."unique" AS isUnique, indexes.partial AS isPartial,
    indexes.origin = 'pk' AND (SELECT wr FROM pragma_table_list(tables.name)) AS isKey,
    (SELECT count(*) FROM pragma_index_xinfo(indexes.name) WHERE key = 1) AS columns
  FROM sqlite_schema AS tables, pragma_index_list(tables.name) AS indexes
  WHERE tables.type = 'table'
    AND (SELECT name FROM pragma_index_info(indexes.name) WHERE seqno = 0) = 'shop'
`;

/**
 * Tells SQLite's planner that shops are large. By default, the planner assumes about ten rows for each shop, so it
 * reads and sorts all animals of a shop instead of using an index that has the order. The statistics do not depend on
 * the content of the store: no `ANALYZE` of the data runs, so a statement has the same plan in every store. See "The
 * sqlite_stat1 table" in SQLite's file format.
 */
export function writeStatistics(database: Database): void {
  database.run("ANALYZE sqlite_schema"); // creates the table
  database.run("DELETE FROM sqlite_stat1");
  for (const index of database.query<IndexRow, []>(indexesByShop).all()) {
    database.run("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?1, ?2, ?3)", [
      index.tableName,
      index.isKey ? index.tableName : index.indexName,
      statisticsOf(index),
    ]);
  }
  database.run("ANALYZE sqlite_schema"); // reads it
}

/** The number of rows, then the number that share the first column of the index, the first two columns, and so on. */
function statisticsOf({ columns, isUnique, isPartial }: IndexRow): string {
  const part = isPartial ? 0.001 : 1;
  const shares = Array.from({ length: Number(columns) }, (_, place) =>
    isUnique && place === Number(columns) - 1 ? 1 : Math.max(1, Math.round(ROWS_OF_SHOP * part * SHARE ** place)),
  );
  return [ROWS * part, ...shares].join(" ");
}
