import { type Page, pageOf } from "./page.ts";
import { cachedStatement, type Row, type SqlParameter } from "./statement.ts";
import type { Call } from "./transaction.ts";

/** The maximum number of rows that one page scans for conditions without an index. Scanning them takes about 1 ms. */
export const SCAN_LIMIT = 10_000;

/** Returns a SQL condition. `bind` adds a parameter to the statement and returns its name, such as `$2`. */
export type Condition = (bind: (value: SqlParameter) => string) => string;

/** The column before the id in an index, and its required value. */
interface Lead {
  readonly column: string;
  readonly value: SqlParameter;
}

/** Describes a page of the rows of one shop, ordered by id. */
export interface PageSelection {
  readonly table: string;
  /** The columns to read besides `id`. */
  readonly columns: readonly string[];
  readonly shop: number;
  /** The page starts after this id. */
  readonly after: bigint | undefined;
  /** The maximum number of rows to find: one more than the page shows. */
  readonly limit: number;
  readonly sort?: "id" | "-id" | undefined;
  /** Uses the index that has this column before the id. Default: the primary key. */
  readonly lead?: Lead | undefined;
  /** Conditions on the id. Leave out conditions that `after` implies: they cost time. */
  readonly bounds?: readonly Condition[];
  /** Conditions without an index: see `pageQuery`. */
  readonly scanned?: readonly Condition[];
  /**
   * One more column, called `name`. `of` returns the SQL expression for it. `from` is the name of the table or CTE with
   * the rows of the page. If `hasColumns` is false, it has only `id` and the scanned columns.
   */
  readonly attached?: { readonly name: string; readonly of: (from: string, hasColumns: boolean) => string } | undefined;
  /** The columns besides `id` that are read from scanned rows. Default: all `columns`. */
  readonly scannedColumns?: readonly string[];
}

/** A row of a page. If `reached` is not null, it is not a result but the end of the scan: see `pageQuery`. */
export type Scanned<R extends Row> = R & { id: bigint; reached: bigint | null };

/**
 * The query for one page with any filters. It scans up to `SCAN_LIMIT` rows. If it stops there with fewer than `limit`
 * results, one more row contains the id of the last scanned row. It is one statement: between two statements, others
 * could add rows that both miss.
 */
export function pageQuery<R extends Row>(page: PageSelection): Call<Scanned<R>> {
  const { table, columns, after, sort, lead, bounds = [], scanned = [], attached, scannedColumns = columns } = page;
  const parameters: SqlParameter[] = [];
  const bind = (value: SqlParameter) => `$${parameters.push(value)}`;
  const [direction, beyond] = sort === "-id" ? (["DESC", "<"] as const) : (["ASC", ">"] as const);
  const shop = bind(page.shop);
  const conditions = [
    `shop = ${shop}`,
    // The value is listed twice, so that only the index that has the column before the id provides the order. See
    // docs/decisions/postgresql.md.
    ...(lead ? [`${lead.column} IN (${twice(bind(lead.value))})`] : []),
    ...(after === undefined ? [] : [`id ${beyond} ${bind(after)}`]),
    ...bounds.map((condition) => condition(bind)),
  ];
  const order = `${lead ? `${lead.column} ${direction}, ` : ""}id ${direction}`;
  const source = `FROM ${table} WHERE ${conditions.join(" AND ")} ORDER BY ${order}`;
  if (scanned.length === 0) {
    const attachedColumns = attached ? [`${attached.of(table, true)} AS ${attached.name}`] : [];
    const sql = `SELECT ${["id", ...columns, ...attachedColumns].join(", ")}, NULL AS reached ${source} LIMIT ${bind(page.limit)}`;
    return { statement: cachedStatement(sql), parameters };
  }
  const read = ["id", ...scannedColumns].join(", ");
  const filters = scanned.map((condition) => condition(bind)).join(" AND ");
  const limit = bind(page.limit);
  const found = `SELECT ${read} FROM (SELECT ${read} ${source} LIMIT ${SCAN_LIMIT}) AS scanned_rows
    WHERE ${filters} ORDER BY ${order} LIMIT ${limit}`;
  // A limit instead of a condition, so that the rows of a full page are not scanned again.
  const unlessFull = `SELECT CASE WHEN count(*) < ${limit} THEN 1 ELSE 0 END FROM found`;
  // One lookup by id for each row. A join could scan the table instead.
  const shown = columns.map((column) =>
    scannedColumns.includes(column)
      ? column
      : `(SELECT ${column} FROM ${table} WHERE ${table}.shop = ${shop} AND ${table}.id = page_rows.id) AS ${column}`,
  );
  const attachedColumns = attached ? [`${attached.of("page_rows", false)} AS ${attached.name}`] : [];
  const sql = `
    WITH found (${read}) AS (${found}),
      page_rows (${read}, reached) AS (
        SELECT ${read}, NULL FROM found
        UNION ALL
        SELECT id, ${scannedColumns.map(() => "NULL, ").join("")}id
        FROM (SELECT id ${source} LIMIT (${unlessFull}) OFFSET ${SCAN_LIMIT - 1}) AS scan_end
      )
    SELECT ${["id", ...shown, ...attachedColumns].join(", ")}, reached FROM page_rows ORDER BY id ${direction}`;
  return { statement: cachedStatement(sql), parameters };
}

/** Makes a page of up to `limit` items from the rows of its query. */
export function scannedPage<R extends Row, T>(
  rows: readonly Scanned<R>[],
  limit: number,
  show: (row: R) => T,
): Page<T> {
  const end = rows.find(({ reached }) => reached !== null);
  if (!end) return pageOf(rows, limit, show, ({ id }) => id);
  return { items: rows.filter((row) => row !== end).map((row) => show(row)), next: end.id };
}

function twice(parameter: string): string {
  return `${parameter}, ${parameter}`;
}
