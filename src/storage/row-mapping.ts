import type { Row, SqlValue } from "./statement.ts";

/** How a field of a resource is kept in its row. `T` includes undefined if the field is optional. */
export interface StoredField<T, R, C extends string = string> {
  /** The columns, in the order of their values. */
  readonly columns: readonly C[];
  /** The values of the columns. */
  readonly write: (value: T) => readonly SqlValue[];
  /** The field of a row that was read. */
  readonly read: (row: R) => T;
}

/** A field that is the value of its column, or absent where that is null. */
export function inColumn<N extends string, V extends SqlValue | undefined>(
  name: N,
): StoredField<V, Readonly<Record<N, NonNullable<V> | (undefined extends V ? null : never)>>, N> {
  return { columns: [name], write: (value) => [value ?? null], read: (row) => (row[name] ?? undefined) as V };
}

/** The same for a safe integer, or null. */
export function numberInColumn<N extends string>(
  name: N,
): StoredField<number | null, Readonly<Record<N, bigint | null>>, N> {
  return { columns: [name], write: (value) => [toBigint(value)], read: (row) => toNumber(row[name]) };
}

const toBigint = (value: number | null) => (value === null ? null : BigInt(value));

export function toNumber(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}

type Camel<N extends string> = N extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : N;

/** A row as an object of the program, for rows whose integers are safe: `{ created_at: 5n }` is `{ createdAt: 5 }`. */
export function plainRow<R extends Row>(row: R) {
  const fields = Object.entries(row).map(([name, value]) => [
    name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    typeof value === "bigint" ? Number(value) : value,
  ]);
  return Object.fromEntries(fields) as {
    [N in keyof R & string as Camel<N>]: R[N] extends bigint | null ? number | Exclude<R[N], bigint> : R[N];
  };
}

interface NamedField<T, R extends Row, C extends string> extends StoredField<unknown, R, C> {
  readonly name: keyof T;
}

/**
 * The fields of a resource in its row, which is read as `R` and written to the columns `C`. The compiler asks for every
 * field of its type, so none is written and not read, or read and not written.
 */
export class RowMapping<T extends object, R extends Row, C extends string = keyof R & string> {
  /** All columns that are written. */
  readonly columns: readonly C[];
  readonly #fields: readonly NamedField<T, R, C>[];

  constructor(fields: { readonly [F in keyof Required<T>]: StoredField<T[F], R, C> }) {
    const named = Object.entries(fields) as unknown as [name: keyof T, StoredField<unknown, R, C>][];
    this.#fields = named.map(([name, { columns, write, read }]) => ({ name, columns, write, read }));
    this.columns = this.#fields.flatMap(({ columns }) => columns);
  }

  /** The values of all columns, in their order. */
  values(resource: T): SqlValue[] {
    return this.#fields.flatMap(({ name, write }) => write(resource[name]));
  }

  /** Adds the fields of a row to a resource that has none of them yet. */
  read<I extends object>(row: R, resource: I): I & T {
    const target = resource as I & T;
    for (const { name, read } of this.#fields) {
      const value = read(row);
      if (value !== undefined) target[name] = value as (I & T)[keyof T];
    }
    return target;
  }

  /** SQL of the assignments to the columns that differ, from the parameter with this number on, and their values. */
  changes(before: T, after: T, first: number): [assignments: string, values: SqlValue[]] {
    const [old, values] = [this.values(before), this.values(after)];
    const changed = this.columns.flatMap((column, index) => (old[index] === values[index] ? [] : [{ column, index }]));
    const assignments = changed.map(({ column }, place) => `${column} = $${first + place}`).join(", ");
    return [assignments, changed.map(({ index }) => values[index] as SqlValue)];
  }

  /** SQL: the parameters of all columns, from the one with this number on, for `UPDATE … SET …`. */
  assignments(first: number): string {
    return this.columns.map((column, index) => `${column} = $${first + index}`).join(", ");
  }
}
