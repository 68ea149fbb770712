import type { MaybePromise } from "../../timing/maybe-promise.ts";
import type { Row } from "../statement.ts";

/** A table, with its columns in the order in which rows are read. */
export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
}

/** A store as a set of tables: the source, the target, or an empty store to compare the target with. */
export interface TableStore {
  /** The name of the store in messages. */
  readonly shown: string;
  /** All tables with stored rows, in an order that satisfies references between them. */
  tables(): MaybePromise<readonly Table[]>;
  /** All rows of a table, in batches, in any order. */
  rows(table: Table): AsyncIterable<readonly Row[]>;
  /** The largest id that the database has generated for a table; 0 if there is none, or it generates no ids for it. */
  lastId(table: Table): MaybePromise<bigint>;
}

/** Rows per batch. */
export const BATCH = 2_000;

/** The quoted columns, for statements of both engines. */
export function columnList(columns: Table["columns"]): string {
  return columns.map((column) => `"${column}"`).join(", ");
}
