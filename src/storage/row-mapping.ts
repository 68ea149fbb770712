import type { Row, SqlValue } from "./statement.ts";

/** How a field of a resource is kept in its row. `T` includes undefined if the field is optional. */
interface StoredField<T, R extends Row> {
  /** The columns, in the order of their values, with the types that both engines know. */
  readonly columns: Readonly<Record<string, "TEXT" | "BIGINT">>;
  /** The values of the columns. */
  readonly write: (value: T) => readonly SqlValue[];
  /** The field of a row that was read. */
  readonly read: (row: R) => T;
}

type NamedField<T, R extends Row> = readonly [name: keyof T, field: StoredField<unknown, R>];

/**
 * The fields of a resource in its row. The compiler asks for every field of its type, so none can be shown by the
 * contract and be lost in the store.
 */
export class RowMapping<T extends object, R extends Row> {
  /** All columns that are written. */
  readonly columns: readonly string[];
  readonly #types: readonly string[];
  readonly #fields: readonly NamedField<T, R>[];

  constructor(fields: { readonly [F in keyof Required<T>]: StoredField<T[F], R> }) {
    this.#fields = Object.entries(fields) as unknown as NamedField<T, R>[];
    const columns = Object.assign({}, ...this.#fields.map(([, field]) => field.columns)) as Record<string, string>;
    this.columns = Object.keys(columns);
    this.#types = Object.values(columns);
  }

  /** The values of all columns, in their order. */
  values(resource: T): SqlValue[] {
    const values: SqlValue[] = [];
    for (const [name, field] of this.#fields) values.push(...field.write(resource[name]));
    return values;
  }

  /** Adds the fields of a row to a resource that has none of them yet. */
  read<I extends object>(row: R, resource: I): I & T {
    const target = resource as I & T;
    for (const [name, field] of this.#fields) {
      const value = field.read(row);
      if (value !== undefined) target[name] = value as (I & T)[keyof T];
    }
    return target;
  }

  /** SQL: the parameters of all columns, from the one with this number on, for `VALUES (…)`. */
  parameters(first: number): string {
    return this.#types.map((type, index) => typed(type, first + index)).join(", ");
  }

  /** SQL: the same for `UPDATE … SET …`. */
  assignments(first: number): string {
    return this.columns.map((column, index) => `${column} = $${first + index}`).join(", ");
  }
}

/** An engine can take an integer from JSON only with its type. */
function typed(type: string, number: number): string {
  return type === "TEXT" ? `$${number}` : `CAST($${number} AS ${type})`;
}
