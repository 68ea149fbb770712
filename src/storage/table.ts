import type { NoOthers } from "../contract/known-keys.ts";
import { type ChangeStatement, change, type InsertStatement, type PlaceValue } from "./statement.ts";

/** The maximum number of rows deleted in one transaction. It bounds how long one blocks others. */
export const DELETE_BATCH_SIZE = 500;

/** A column. It never holds null unless it is `optional`. */
export interface Column {
  readonly type: "INTEGER" | "TEXT";
  readonly optional?: true;
  /** The only values. */
  readonly values?: readonly string[];
  /** The value in rows that are inserted without one. */
  readonly fallback?: number | string;
  /** SQL of a condition that each row meets. */
  readonly check?: string;
  /** The column of another table, as `table (column)`, in which the value is found. */
  readonly references?: string;
  /** SQL of the value, which the engine keeps. */
  readonly value?: string;
}
type Columns = Readonly<Record<string, Column>>;

export const integer = { type: "INTEGER" } as const;
export const text = { type: "TEXT" } as const;
/** A number that begins at 0. */
export const count = { ...integer, fallback: 0 } as const;
/** The key of a table with one row. */
export const onlyRow = { ...integer, check: "only_row = 1" } as const;

export function enumeration<const V extends string>(...values: readonly V[]) {
  return { ...text, values };
}

/** A text that the engine computes from others, with SQL that both engines know. */
export function derived(sql: string) {
  return { ...text, optional: true as const, value: sql };
}

export function optional<const C extends Column>(column: C) {
  return { ...column, optional: true as const };
}

/** An index. Its name is unique in the store. */
interface Index {
  /** The columns, as in SQL. */
  readonly on: string;
  readonly unique?: true;
  /** SQL of the condition of the rows that it has. */
  readonly where?: string;
  /** Columns that it has too on SQLite, so that reads need no row. */
  readonly covers?: string;
  /** The only engine that has it. */
  readonly only?: "postgres";
}

export type Engine = "sqlite" | "postgres";

interface Options<C extends string = string> {
  /** The columns of the primary key. */
  readonly key: readonly C[];
  readonly indices?: Readonly<Record<string, Index>>;
  /** True if the engine gives new rows their key, a number that is never given again. */
  readonly isNumbered?: true;
  /** True if rows are often updated: PostgreSQL leaves room for their next versions. */
  readonly isUpdatedOften?: true;
  /** True if SQLite keeps rows in the order of their insertion, and not of their key. */
  readonly keepsOrder?: true;
  /** SQL of the values of the rows that a new store has. */
  readonly rows?: string;
  /** What the rows belong to if they are deleted with it. By default a shop if the key begins with it. */
  readonly owner?: "account_id";
}

/** A table, from which the statements follow that create it on both engines: see `creationOf`. */
export interface Table<C extends Columns = Columns> extends Options {
  readonly name: string;
  readonly columns: C;
  /** For a table whose rows belong to shops or to accounts. */
  readonly owned?: OwnedRows;
}

/** Rows that are deleted with their owner. */
export interface OwnedRows {
  readonly owner: "shop" | "account_id";
  /** Deletes up to `DELETE_BATCH_SIZE` rows of the owner `$1`. Returns one row for each deleted row. */
  readonly deleteSome: ChangeStatement<[owner: number | string]>;
}

/** The values in a row of the table, as statements return them. */
export type RowOf<T> = T extends Table<infer C> ? { [N in keyof C]: ValueOf<C[N]> } : never;
type ValueOf<C> =
  | (C extends { values: readonly (infer V)[] } ? V : C extends { type: "INTEGER" } ? bigint : string)
  | (C extends { optional: true } ? null : never);

/** The columns of a table. */
export type ColumnOf<T extends Table> = keyof T["columns"] & string;
/** The values of parameters for these columns. A number must be an integer. */
type ParametersOf<C extends Columns, N extends readonly (keyof C)[]> = {
  readonly [I in keyof N]: ValueOf<C[N[I]]> | (C[N[I]] extends { type: "INTEGER" } ? number : never);
};

/** Declares a table. A domain lists it in its `tables`. */
export function table<const C extends Columns>(
  name: string,
  columns: C & { readonly [N in keyof C]: NoOthers<C[N], Column, "column"> },
  options: Options<keyof C & string>,
): Table<C> {
  const owner = options.key[0] === "shop" && !options.isNumbered ? "shop" : options.owner;
  return {
    name,
    columns,
    ...options,
    ...(owner && { owned: { owner, deleteSome: deletion(name, owner, options.key) } }),
  };
}

function deletion(name: string, owner: string, key: readonly string[]): OwnedRows["deleteSome"] {
  const others = key.filter((column) => column !== owner).join(", ") || owner;
  return change(
    `DELETE FROM ${name} WHERE ${owner} = $1 AND (${others}) IN
       (SELECT ${others} FROM ${name} WHERE ${owner} = $1 LIMIT ${DELETE_BATCH_SIZE})
     RETURNING ${owner}`,
  );
}

/** What an insert has besides its columns. */
interface InsertOptions<N extends string> {
  /** SQL of values that are not those of the parameter in their place. */
  readonly computed?: { readonly [C in N]?: (value: PlaceValue) => string };
  /** What comes after the values. */
  readonly end?: string;
}

/** The columns whose values an insert must have. */
type NeededColumn<C extends Columns> = {
  [N in keyof C]: C[N] extends { optional: true } | { fallback: unknown } ? never : N;
}[keyof C];

/** A statement that inserts a row with these columns, whose values are its parameters in this order. */
export function insertInto<C extends Columns, const N extends readonly (keyof C & string)[]>(
  { name, columns }: Table<C>,
  names: N & (NeededColumn<C> extends N[number] ? unknown : { readonly lacks: Exclude<NeededColumn<C>, N[number]> }),
  { computed = {}, end = "" }: InsertOptions<N[number]> = {},
): InsertStatement<ParametersOf<C, N>> {
  const head = `INSERT INTO ${name} (${names.join(", ")})`;
  const rowOf = (value: PlaceValue) =>
    names
      .map((column, index) => computed[column]?.(value) ?? value(index + 1, (columns[column] as Column).type))
      .join(", ");
  const { sql, kind } = change<ParametersOf<C, N>>(
    `${head} VALUES (${rowOf((parameter) => `$${parameter}`)}) ${end}`.trim(),
  );
  return { sql, kind, head, rowOf, end, width: names.length };
}

/** What deletes rows with their owner, of those tables whose rows belong to a `shop` or to an `account_id`. */
export function ownedRows(tables: readonly Table[], owner: OwnedRows["owner"]): OwnedRows[] {
  return tables.flatMap(({ owned }) => (owned?.owner === owner ? [owned] : []));
}
