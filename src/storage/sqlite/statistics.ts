import type { Database } from "bun:sqlite";

/** Rows of a table that has shops, and those of one shop among them, as the planner is told. */
const ROWS = 10_000_000;
const ROWS_OF_SHOP = 100_000;
/** How many rows share a value of an index's next column, of those that share the columns before it. */
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
    indexes.origin = 'pk' AS isKey,
    (SELECT count(*) FROM pragma_index_xinfo(indexes.name) WHERE key = 1) AS columns
  FROM sqlite_schema AS tables, pragma_index_list(tables.name) AS indexes
  WHERE tables.type = 'table'
    AND (SELECT name FROM pragma_index_info(indexes.name) WHERE seqno = 0) = 'shop'
`;

/**
 * Tells SQLite's planner that shops are large. Without it, the planner takes a shop for some ten rows, so it reads all
 * animals of a shop and sorts them where an index has them in order. The statistics stay as they are whatever the store
 * holds: no `ANALYZE` runs, and the same statement has the same plan in every store. "The sqlite_stat1 table" in
 * SQLite's file format.
 */
export function describeShops(database: Database): void {
  database.run("ANALYZE sqlite_schema"); // makes the table
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

/** The number of rows, then how many share the first column of the index, the first two, and so on. */
function statisticsOf({ columns, isUnique, isPartial }: IndexRow): string {
  const part = isPartial ? 0.001 : 1;
  const shares = Array.from({ length: Number(columns) }, (_, place) =>
    isUnique && place === Number(columns) - 1 ? 1 : Math.max(1, Math.round(ROWS_OF_SHOP * part * SHARE ** place)),
  );
  return [ROWS * part, ...shares].join(" ");
}
