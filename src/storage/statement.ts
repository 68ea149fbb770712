/** What a column can hold. Every integer is a bigint, so that 64-bit values stay exact. */
export type SqlValue = string | bigint | null;
/** What a parameter can be. A number must be an integer. */
export type SqlParameter = SqlValue | number;
export type Row = Record<string, SqlValue>;

/**
 * One SQL statement, in the part of SQL that all engines share. Parameters are written `$1`, `$2`, …,
 * appear for the first time in this order and are given by position.
 */
export interface Statement<R extends Row = Row> {
  readonly sql: string;
  /** True for one that takes a lock: see `lockStatement`. */
  readonly locks?: true;
  /** True for one that finds a row by its key: see `lookUp`. */
  readonly isLookUp?: true;
  /** True for one that reads rows of all shops: see `acrossShops`. */
  readonly acrossShops?: true;
  /** Only carries the type of the rows. */
  readonly row?: R;
}

export function statement<R extends Row = Row>(sql: string): Statement<R> {
  return { sql };
}

/**
 * A statement that finds one row by its key. All its parameters are integers. An engine across the network may find the
 * rows of many requests with one statement.
 */
export function lookUp<R extends Row = Row>(sql: string): Statement<R> {
  return { sql, isLookUp: true };
}

/**
 * A statement of background work that finds rows of all shops, the oldest first. It gives only the shop, what tells
 * the row, and its time; what is done about the row then names the shop.
 */
export function acrossShops<R extends Row = Row>(sql: string): Statement<R> {
  return { sql, acrossShops: true };
}

/**
 * A statement that updates the row which all transactions on the same data update first. One that begins with it runs
 * after those before it and sees all they did, so an engine need not look for conflicts between them: it finds none in
 * the whole transaction. So each change that reads before it writes updates the row of its data before it reads, even
 * where another lock came first.
 */
export function lockStatement<R extends Row = Row>(sql: string): Statement<R> {
  return { sql, locks: true };
}

/** What a row that is appended gets from its counter. */
export interface Appended extends Row {
  readonly id: bigint;
  /** Unix milliseconds, never less than that of the row before. */
  readonly at: bigint;
}

/** The same where a row of a second list, a log, tells of it. */
export interface Counted extends Appended {
  readonly log_id: bigint;
}

/**
 * Adding a row to a list, and one to a log that records it: the row of a counter gives their ids and the time, and is
 * locked by that. Two forms, because the rows that one process adds at the same moment are one statement where each
 * statement is a round trip.
 */
export interface Append {
  /**
   * For engines in this process: takes time, the number of rows and the list. Returns what the first row gets; the ids of
   * the others follow it. No row if there is no such list.
   */
  readonly count: Statement<Counted>;
  /** Takes list, id, time and then the values. */
  readonly insert: Statement;
  /** Takes list, id, time, the id in the log, and then the values of the log. */
  readonly log: Statement;
  /**
   * For engines across the network: takes time, list, the number of rows, and the rows as a JSON array of arrays of
   * values, those of the log behind the others, integers in it as texts. Returns what the first row gets; the ids of the
   * others follow it. Several ways to count may share it.
   */
  readonly insertAll: Statement<Appended>;
}
