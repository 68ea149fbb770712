import type { StepKind } from "../contract/steps.ts";

/** A value of a column. Every integer is a bigint, so that 64-bit values stay exact. */
export type SqlValue = string | bigint | null;
/** A value of a parameter. Numbers must be integers. */
export type SqlParameter = SqlValue | number;
export type Row = Record<string, SqlValue>;
export type IdRow = { id: bigint };
/** The values of a statement's parameters, in order. */
export type Values = readonly SqlParameter[];

/** What a statement does. An engine refuses a query that changes the store. */
type StatementKind = Exclude<StepKind, "wait">;

/** SQL that an engine runs for itself, with the types of its parameters (`$1`, `$2`, …) and rows. */
export interface EngineSql<P extends Values = Values, R extends Row = Row> {
  readonly sql: string;
  readonly kind?: StatementKind;
  /** Only carry the types. */
  readonly parameters?: P;
  readonly row?: R;
}

/** A SQL statement that all engines understand. */
export interface Statement<P extends Values = Values, R extends Row = Row, K extends StatementKind = StatementKind>
  extends EngineSql<P, R> {
  readonly kind: K;
  /** True if the statement takes a lock: see `lockStatement`. */
  readonly locks?: true;
  /** Makes its SQL for values from elsewhere: see `lookUp` and `pageRead`. */
  readonly sqlFor?: SqlFor;
  /** True if the statement finds a row by its key: see `lookUp`. */
  readonly isLookUp?: true;
  /** True if the statement reads a page: see `pageRead`. */
  readonly isPage?: true;
  /** True if the statement reads rows of all shops: see `acrossShops`. */
  readonly acrossShops?: true;
  /** True if the statement raises the version of a shop: see `raisesVersion`. */
  readonly raisesVersion?: true;
}

/** Returns SQL. `value` returns the SQL of the parameter with a number, from 1, such as `$1`. */
export type SqlFor = (value: (parameter: number) => string) => string;

/** A statement that only reads. */
export type QueryStatement<P extends Values = Values, R extends Row = Row> = Statement<P, R, "query">;
/** A statement that inserts, updates or deletes. */
export type ChangeStatement<P extends Values = Values, R extends Row = Row> = Statement<P, R, "change">;

/** All statements of the modules that are loaded. */
export const statements: Statement[] = [];

/** The values of the parameters of a statement. */
export type ValuesOf<S> = S extends Statement<infer P> ? P : never;

/** A statement that only reads. */
export function query<P extends Values = [], R extends Row = Row>(sql: string): QueryStatement<P, R> {
  return registered({ sql, kind: "query" });
}

/** A statement that inserts, updates or deletes. */
export function change<P extends Values = [], R extends Row = Row>(sql: string): ChangeStatement<P, R> {
  return registered({ sql, kind: "change" });
}

/** Adds a statement to the list of all. */
export function registered<S extends Statement>(statement: S): S {
  statements.push(statement);
  return statement;
}

const cached = new Map<string, Statement>();

/**
 * A query whose text is composed while the service runs. The same text gives the same statement, because an engine
 * prepares each statement once. Statements are never removed, so only use it for few different texts.
 */
export function cachedQuery<R extends Row>(sql: string): QueryStatement<Values, R> {
  return fromCache({ sql, kind: "query" }) as QueryStatement<Values, R>;
}

/** The same for a change. */
export function cachedChange(sql: string): ChangeStatement {
  return fromCache({ sql, kind: "change" }) as ChangeStatement;
}

function fromCache(statement: Statement): Statement {
  return cached.getOrInsert(statement.sql, statement);
}

type NotNull = Exclude<SqlParameter, null>;

/** A statement that finds one row by its key. PostgreSQL finds the rows of many requests with one statement. */
export function lookUp<P extends readonly NotNull[] = [], R extends Row = Row>(sqlFor: SqlFor): QueryStatement<P, R> {
  return registered({ sql: sqlFor(parameter), sqlFor, kind: "query", isLookUp: true });
}

/** A statement that reads one page. PostgreSQL reads the pages of many requests with one statement. */
export function pageRead<P extends readonly [...NotNull[], limit: number], R extends Row = Row>(
  sqlFor: SqlFor,
): QueryStatement<P, R> {
  return registered({ sql: sqlFor(parameter), sqlFor, kind: "query", isPage: true });
}

const parameter = (number: number) => `$${number}`;

/**
 * A statement that reads rows of several shops from tables with the column `shop`, for background work or an operator.
 * Every other statement on such a table names one shop.
 * For background work, it reads only keys, ids and times. Later statements read the rest, and name the shop.
 */
export function acrossShops<P extends Values = [], R extends Row = Row>(sql: string): QueryStatement<P, R> {
  return registered({ sql, kind: "query", acrossShops: true });
}

/**
 * A statement that locks data by updating a row. All transactions on the same data update this row first, so they run
 * one after the other and each sees the changes of the previous ones. An engine then need not detect conflicts in a
 * transaction that begins with this statement. So a change that reads data before it writes must run the lock statement
 * of that data first, even if it already holds another lock.
 *
 * The first parameter names the shop or account. If another process keeps it locked, only transactions with the same
 * value wait.
 */
export function lockStatement<P extends [owner: number | string, ...Values], R extends Row = Row>(
  sql: string,
): ChangeStatement<P, R> {
  return registered({ sql, kind: "change", locks: true });
}

type Integer = bigint | number;

/** What the engine gives an appended row. */
export interface Appended extends Row {
  readonly id: bigint;
  /** Unix milliseconds, never less than that of the row before. */
  readonly at: bigint;
  /** The id of its row in the log. */
  readonly log_id: bigint;
}

/** SQL of the value of a parameter, for a column of this type. */
export type PlaceValue = (parameter: number, type: "INTEGER" | "TEXT") => string;

/** An insert of one row, of which an engine or `insertAll` makes one of several rows. */
export interface InsertStatement<P extends Values = Values> extends ChangeStatement<P> {
  /** `INSERT INTO … (…)` */
  readonly head: string;
  /** SQL of the values of a row. */
  readonly rowOf: (value: PlaceValue) => string;
  /** What comes after the rows. */
  readonly end: string;
  /** How many parameters a row has. */
  readonly width: number;
}

/**
 * How rows are appended to a table of a shop, each with a row in its log. The row of the shop counts the ids of both, and
 * has the time. Updating it locks the shop, so an engine appends concurrent rows together. In all statements, `$1` is the
 * shop.
 */
export interface Append<R extends Values = Values, L extends Values = Values> {
  /**
   * Counts rows: `$2` is the time, `$3` their number, and the others are the sums of their `amounts`. Returns what the
   * first row gets, to which the others add 1 each; no row if the shop takes none of them, or not all: then each alone.
   */
  readonly count: ChangeStatement<[shop: number, now: number, rows: number, ...amounts: number[]], Appended>;
  readonly insert: InsertStatement<readonly [shop: Integer, id: Integer, at: Integer, ...row: R]>;
  /** Its row in the log. */
  readonly log: InsertStatement<
    readonly [shop: Integer, id: Integer | null, at: Integer, logId: Integer, ...logged: L]
  >;
  /** Adds the number of rows with the same `countedBy` to its count. */
  readonly countGroup: InsertStatement<readonly [shop: Integer, countedBy: Integer, rows: Integer]>;
}

/** JSON of values, such as several rows for one parameter. 64-bit integers are exact, because they become strings. */
export function jsonWithIntegersAsText(value: unknown): string {
  return JSON.stringify(value, (_name, one: unknown) => (typeof one === "bigint" ? String(one) : one));
}
