import type { MaybePromise } from "../../timing/maybe-promise.ts";
import type { Row } from "../statement.ts";

/** A table, with its columns in the order in which rows are read. */
export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
}

/** A store, seen as nothing but tables. */
export interface SourceStore {
  /** The store, for people. */
  readonly shown: string;
  /** All tables with rows of their own, in an order in which they can be filled. */
  tables(): MaybePromise<readonly Table[]>;
  /** All rows of a table, some at a time, in any order. */
  rows(table: Table): AsyncIterable<readonly Row[]>;
  /** The last id that a table has given to a row; 0 for none, undefined if it gives none by itself. */
  lastId(table: Table): MaybePromise<bigint | undefined>;
}

/** Rows given at a time. */
export const BATCH = 2_000;

/** The columns as they stand in a statement of either engine. */
export function columnList(columns: Table["columns"]): string {
  return columns.map((column) => `"${column}"`).join(", ");
}
