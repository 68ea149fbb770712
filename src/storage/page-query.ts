import { type Page, pageOf } from "./page.ts";
import { type Row, type SqlParameter, type Statement, statement } from "./statement.ts";

/** How many rows one page looks through for conditions that no index answers: a bound on its cost, about a millisecond. */
export const SCAN_LIMIT = 10_000;

/** Part of a statement: a condition, made with a function that puts a value into the statement and gives its name there. */
export type Condition = (bind: (value: SqlParameter) => string) => string;

/** The column in front of the id in an index, and the value that rows are to have in it. */
interface Lead {
  readonly column: string;
  readonly value: SqlParameter;
}

/** A page of a list of rows of one shop, by their ids. */
export interface PageSelection {
  readonly table: string;
  /** Besides `id`. */
  readonly columns: readonly string[];
  readonly shop: number;
  /** The id behind which the page starts. */
  readonly after: bigint | undefined;
  /** Rows that are wanted: one more than are shown. */
  readonly limit: number;
  readonly sort?: "id" | "-id" | undefined;
  /** A column that leads an index, in front of the id, and its value; without it, the primary key is used. */
  readonly lead?: Lead | undefined;
  /** Conditions that bound the ids. One that `after` implies only costs time. */
  readonly bounds?: readonly Condition[];
  /** Conditions that rows are looked through for: see `pageQuery`. */
  readonly scanned?: readonly Condition[];
  /** A value that is read of each row that is shown, and its name: SQL for the row of a table with the columns `id` and, where `hasColumns`, all others. */
  readonly attached?: { readonly name: string; readonly of: (row: string, hasColumns: boolean) => string } | undefined;
  /** What is read of each row that is looked through, besides `id`; all `columns`, where others need not be read. */
  readonly looked?: readonly string[];
}

/** A statement with its parameters. */
export interface Query<R extends Row> {
  readonly statement: Statement<R>;
  readonly parameters: readonly SqlParameter[];
}

/** A row of a page; or, where `reached` is not null, only where the page ended: see `pageQuery`. */
export type Scanned<R extends Row> = R & { id: bigint; reached: bigint | null };

/**
 * The query of one page with any filters. Where the page looks through no more than `SCAN_LIMIT` rows and found fewer
 * than `limit`, one more row tells the id of the last of these rows, if there are so many. One statement, because
 * between two of them others could add what both leave out.
 */
export function pageQuery<R extends Row>(page: PageSelection): Query<Scanned<R>> {
  const { table, columns, after, sort, lead, bounds = [], scanned = [], attached, looked: parts = columns } = page;
  const parameters: SqlParameter[] = [];
  const bind = (value: SqlParameter) => `$${parameters.push(value)}`;
  const [direction, beyond] = sort === "-id" ? (["DESC", "<"] as const) : (["ASC", ">"] as const);
  const shop = bind(page.shop);
  const conditions = [
    `shop = ${shop}`,
    // Twice in the list: only the index that begins with the column then gives the order. See docs/decisions/postgresql.md.
    ...(lead ? [`${lead.column} IN (${twice(bind(lead.value))})`] : []),
    ...(after === undefined ? [] : [`id ${beyond} ${bind(after)}`]),
    ...bounds.map((condition) => condition(bind)),
  ];
  const order = `${lead ? `${lead.column} ${direction}, ` : ""}id ${direction}`;
  const looked = `FROM ${table} WHERE ${conditions.join(" AND ")} ORDER BY ${order}`;
  if (scanned.length === 0) {
    const also = attached ? [`${attached.of(table, true)} AS ${attached.name}`] : [];
    const sql = `SELECT ${["id", ...columns, ...also].join(", ")}, NULL AS reached ${looked} LIMIT ${bind(page.limit)}`;
    return { statement: remembered(sql), parameters };
  }
  const read = ["id", ...parts].join(", ");
  const filters = scanned.map((condition) => condition(bind)).join(" AND ");
  const limit = bind(page.limit);
  const found = `SELECT ${read} FROM (SELECT ${read} ${looked} LIMIT ${SCAN_LIMIT}) AS looked
    WHERE ${filters} ORDER BY ${order} LIMIT ${limit}`;
  // As a limit and not as a condition: the rows are then not looked through again for a page that is full.
  const unlessFull = `SELECT CASE WHEN count(*) < ${limit} THEN 1 ELSE 0 END FROM found`;
  // Each by its id: a join could read the table up to there.
  const shown = columns.map((column) =>
    parts.includes(column)
      ? column
      : `(SELECT ${column} FROM ${table} WHERE ${table}.shop = ${shop} AND ${table}.id = places.id) AS ${column}`,
  );
  const also = attached ? [`${attached.of("places", false)} AS ${attached.name}`] : [];
  const sql = `
    WITH found (${read}) AS (${found}),
      places (${read}, reached) AS (
        SELECT ${read}, NULL FROM found
        UNION ALL
        SELECT id, ${parts.map(() => "NULL, ").join("")}id
        FROM (SELECT id ${looked} LIMIT (${unlessFull}) OFFSET ${SCAN_LIMIT - 1}) AS last
      )
    SELECT ${["id", ...shown, ...also].join(", ")}, reached FROM places ORDER BY id ${direction}`;
  return { statement: remembered(sql), parameters };
}

/** The page of the rows that its query found, of which it shows up to `limit`. */
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

/** Each text makes one statement: there are few, and an engine prepares each once. */
const statements = new Map<string, Statement>();

function remembered<R extends Row>(sql: string): Statement<R> {
  let known = statements.get(sql);
  if (!known) statements.set(sql, (known = statement(sql)));
  return known as Statement<R>;
}
