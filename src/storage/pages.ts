import type { ShopNumber } from "../contract/caller.ts";
import { cachedQuery, type IdRow, type QueryStatement, type Row, type SqlParameter, type Values } from "./statement.ts";
import type { ColumnOf, RowOf, Table } from "./table.ts";
import { all, type Query } from "./transaction.ts";

/** A page of a list. */
export interface Page<T, P = bigint> {
  readonly items: T[];
  /** The position after which the next page starts; absent on the last page. */
  readonly next?: P;
  /** The position of an item, given its place. */
  readonly positionAt: (place: number) => P;
}

/** The page of an empty list. */
export const emptyPage: Page<never, never> = {
  items: [],
  positionAt: () => {
    throw new RangeError("An empty page has no items.");
  },
};

/** Makes a page of up to `limit` items. One more row than that means that another page follows. */
export function pageOf<R, T, P>(
  found: readonly R[],
  limit: number,
  show: (row: R) => T,
  positionOf: (last: R) => P,
): Page<T, P> {
  const rows = found.slice(0, limit);
  const items = rows.map((row) => show(row));
  const positionAt = (place: number) => positionOf(rows[place] as R);
  return found.length > rows.length && rows.length > 0
    ? { items, positionAt, next: positionAt(rows.length - 1) }
    : { items, positionAt };
}

/** The maximum number of rows that one page scans for conditions without an index. Scanning them takes about 1 ms. */
export const SCAN_LIMIT = 10_000;

/** Returns a SQL condition. `bind` adds a parameter to the statement and returns its name, such as `$2`. */
export type Condition = (bind: (value: SqlParameter) => string) => string;

/** The column before the id in an index, and its required value, or several different ones. */
interface Lead<C extends string> {
  readonly column: C;
  readonly values: readonly SqlParameter[];
}

/**
 * Describes a page of the rows of one shop in a table, ordered by id unless it says otherwise. It has the columns `C`, and
 * one more called `A`.
 */
export interface PageSelection<
  T extends Table = Table,
  C extends ColumnOf<T> = ColumnOf<T>,
  A extends string = string,
> {
  readonly table: T;
  /** The columns to read besides `id`. */
  readonly columns: readonly C[];
  readonly shop: ShopNumber;
  /** The page starts after this id. */
  readonly after: bigint | undefined;
  /** The maximum number of items. */
  readonly limit: number;
  readonly sort?: "id" | "-id" | undefined;
  /**
   * Orders by this column first, of rows where it is not null. There is an index with it before the id. It is one of
   * `scannedColumns`.
   */
  readonly by?: ColumnOf<T> | undefined;
  /** The value of `by` at `after`. Default: that which the row has, which must then keep it. */
  readonly afterBy?: string | undefined;
  /**
   * Uses the index that has this column before the id. Default: the primary key. With several values, the page merges as
   * many lists, and scans so much less of each.
   */
  readonly lead?: Lead<ColumnOf<T>> | undefined;
  /** Conditions on the id. Leave out conditions that `after` implies: they cost time. */
  readonly bounds?: readonly Condition[];
  /** Conditions without an index: see `readPage`. */
  readonly scanned?: readonly Condition[];
  /**
   * One more column, which holds a text or null.
   */
  readonly attached?: AttachedColumn<A> | undefined;
  /** The columns besides `id` that are read from scanned rows. Default: all `columns`. */
  readonly scannedColumns?: readonly ColumnOf<T>[];
  /** How many rows are scanned. Default: `SCAN_LIMIT`. */
  readonly scanLimit?: number;
}

/**
 * A column called `name`. `of` returns the SQL expression for it. `from` is the name of the table or CTE with the rows of
 * the page. If `hasColumns` is false, it has only `id` and the scanned columns.
 */
export interface AttachedColumn<A extends string = string> {
  readonly name: A;
  readonly of: (from: string, hasColumns: boolean) => string;
}

/** What a page has of a row. */
type PageRow<T extends Table, C extends ColumnOf<T>, A extends string> = Pick<RowOf<T>, C | "id"> &
  Record<A, string | null>;

/** A row of a page. If `reached` is not null, it is not a result but the end of the scan: see `readPage`. */
interface ScannedRow extends Row {
  id: bigint;
  reached: bigint | null;
}

/**
 * Reads one page with any filters. It scans up to `SCAN_LIMIT` rows. If it stops there with fewer than `limit` results,
 * one more row contains the position of the last scanned row, after which the next page starts. It is one statement:
 * between two statements, others could add rows that both miss. `positionOf` also gets the last row of a scan, which has only
 * `id` and `by`.
 */
export function readPage<I, T extends Table, C extends ColumnOf<T>, A extends string = never>(
  page: PageSelection<T, C, A>,
  show: (row: PageRow<T, C, A>) => I,
): Query<Page<I>>;
export function readPage<I, P, T extends Table, C extends ColumnOf<T>, A extends string = never>(
  page: PageSelection<T, C, A>,
  show: (row: PageRow<T, C, A>) => I,
  positionOf: (row: PageRow<T, C, A>) => P,
): Query<Page<I, P>>;
export function* readPage<I>(
  page: PageSelection,
  show: (row: never) => I,
  positionOf: (row: never) => unknown = ({ id }: IdRow) => id,
): Query<Page<I, unknown>> {
  const rows = yield* all(...pageQuery({ ...page, limit: page.limit + 1 }));
  const end = rows.find(({ reached }) => reached !== null);
  const result = pageOf(
    end ? rows.filter((row) => row !== end) : rows,
    page.limit,
    (row) => show(row as never),
    (row) => positionOf(row as never),
  );
  return end && result.next === undefined ? { ...result, next: positionOf(end as never) } : result;
}

function pageQuery(page: PageSelection): [QueryStatement<Values, ScannedRow>, ...Values] {
  const { columns, after, sort, by, afterBy, lead, bounds = [], scanned = [], attached } = page;
  const { name: table } = page.table;
  const { scannedColumns = columns, scanLimit: mostScanned = SCAN_LIMIT } = page;
  const parameters: SqlParameter[] = [];
  const bind = (value: SqlParameter) => `$${parameters.push(value)}`;
  const [direction, beyond] = sort === "-id" ? (["DESC", "<"] as const) : (["ASC", ">"] as const);
  const shop = bind(page.shop);
  const ordered = (column?: string, id = "id") => `${column ? `${column} ${direction}, ` : ""}${id} ${direction}`;
  const conditions = [
    `shop = ${shop}`,
    ...(by ? [`${by} IS NOT NULL`] : []),
    ...(after === undefined ? [] : [isBeyond(bind(after))]),
    ...bounds.map((condition) => condition(bind)),
  ];
  const read = ["id", ...scannedColumns].join(", ");
  const leads = lead?.values ?? [];
  const scanLimit = Math.floor(mostScanned / Math.max(1, leads.length));
  const source =
    leads.length > 1
      ? `FROM (${leads.map((value) => `SELECT * FROM (SELECT ${read} ${sourceOf(bind(value))} LIMIT ${scanLimit}) AS one`).join(" UNION ALL ")}) AS leads ORDER BY ${ordered()}`
      : sourceOf(leads[0] === undefined ? undefined : bind(leads[0]));
  if (scanned.length === 0 && leads.length < 2) {
    const attachedColumns = attached ? [`${attached.of(table, true)} AS ${attached.name}`] : [];
    const sql = `SELECT ${["id", ...columns, ...attachedColumns].join(", ")}, NULL AS reached ${source} LIMIT ${bind(page.limit)}`;
    return [cachedQuery(sql), ...parameters];
  }
  const filters = scanned.map((condition) => condition(bind)).join(" AND ") || "TRUE";
  const limit = bind(page.limit);
  const found = `SELECT ${read} FROM (SELECT ${read} ${source} LIMIT ${scanLimit}) AS scanned_rows
    WHERE ${filters} ORDER BY ${ordered(by)} LIMIT ${limit}`;
  // A limit instead of a condition, so that the rows of a full page are not scanned again.
  const unlessFull = `SELECT CASE WHEN count(*) < ${limit} THEN 1 ELSE 0 END FROM found`;
  // All others come from one look-up by id for each row: for an equality, PostgreSQL could read the whole table instead.
  const others = columns.filter((column) => !scannedColumns.includes(column));
  const isComplete = others.length === 0;
  const shown = columns.map((column) => (others.includes(column) ? `shown.${column}` : `page_rows.${column}`));
  const attachedColumns = attached
    ? [`${attached.of(isComplete ? "page_rows" : "shown", !isComplete)} AS ${attached.name}`]
    : [];
  const join = isComplete
    ? ""
    : `LEFT JOIN ${table} AS shown ON shown.shop = ${shop} AND shown.id BETWEEN page_rows.id AND page_rows.id`;
  const sql = `
    WITH found (${read}) AS (${found}),
      page_rows (${read}, reached) AS (
        SELECT ${read}, NULL FROM found
        UNION ALL
        SELECT id, ${scannedColumns.map((column) => (column === by ? `${by}, ` : "NULL, ")).join("")}id
        FROM (SELECT id${by ? `, ${by}` : ""} ${source} LIMIT (${unlessFull}) OFFSET ${scanLimit - 1}) AS scan_end
      )
    SELECT ${["page_rows.id", ...shown, ...attachedColumns].join(", ")}, reached
    FROM page_rows ${join} ORDER BY ${ordered(by && `page_rows.${by}`, "page_rows.id")}`;
  return [cachedQuery(sql), ...parameters];

  /** The rows from which the page is taken, of those that have this value in the leading column. */
  function sourceOf(value: string | undefined): string {
    // The value is listed twice, so that only the index that has the column before the id provides the order. See
    // docs/decisions.md.
    const ofLead = lead && value ? [`${lead.column} IN (${value}, ${value})`] : [];
    const where = [...conditions, ...ofLead].join(" AND ");
    return `FROM ${table} WHERE ${where} ORDER BY ${ordered(lead?.column ?? by)}`;
  }

  function isBeyond(id: string): string {
    const position =
      afterBy === undefined ? `(SELECT ${by} FROM ${table} WHERE shop = ${shop} AND id = ${id})` : bind(afterBy);
    return by ? `(${by}, id) ${beyond} (${position}, ${id})` : `id ${beyond} ${id}`;
  }
}

/** True if a column has one of these values. They are padded with the last to one of a few lengths, so that there are few statements. */
export function isOneOf(values: readonly (bigint | string)[], column = "id"): Condition {
  const length = [1, 10, 100, 500].find((one) => one >= values.length) ?? values.length;
  const padded = Array.from({ length }, (_, index) => values[Math.min(index, values.length - 1)] as bigint | string);
  return (bind) => `${column} IN (${padded.map((value) => bind(value)).join(", ")})`;
}
