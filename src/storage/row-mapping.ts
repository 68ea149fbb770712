import { cachedChange, type Row, type SqlParameter, type SqlValue } from "./statement.ts";
import { all, type Change } from "./transaction.ts";

/** What gives some columns of the row `W` their values, for a value of a field. */
type Writes<T, W> = { readonly [C in keyof W]?: (value: T) => W[C] };

/**
 * How a field of a resource is kept in its row, which is read as `R`, and of which `W` is what is written. `T` includes
 * undefined if the field is optional.
 */
export interface StoredField<T, R, W> {
  readonly write: Writes<T, Pick<W, keyof W & keyof R>>;
  /** The same for columns that are only searched. */
  readonly search?: Writes<T, Omit<W, keyof R>>;
  /** The field of a row that was read. */
  readonly read: (row: R) => T;
}

/** A field in one column, which is null if the field is undefined. */
type FieldInColumn<T, C extends string, V = NonNullable<T> | (undefined extends T ? null : never)> = StoredField<
  T,
  Readonly<Record<C, V>>,
  Readonly<Record<C, V>>
>;

/** A field that is the value of its column, or absent where that is null. */
export function inColumn<C extends string, V extends SqlValue | undefined>(name: C): FieldInColumn<V, C> {
  const write = { [name]: (value: V) => value ?? null };
  return { write: write as never, read: (row) => (row[name] ?? undefined) as V };
}

/** The same for a safe integer, or null. */
export function numberInColumn<C extends string>(name: C): FieldInColumn<number | null, C, bigint | null> {
  const write = { [name]: toBigint };
  return { write: write as never, read: (row) => toNumber(row[name]) };
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

interface NamedField<T, R> {
  readonly name: keyof T;
  readonly read: (row: R) => unknown;
}

interface WrittenColumn<T, C> {
  readonly column: C;
  readonly name: keyof T;
  readonly valueOf: (value: unknown) => SqlValue;
}

type Fields<T, R, W> = { readonly [F in keyof Required<T>]: StoredField<T[F], R, W> };

/** The columns that fields write. */
type WrittenBy<F> = {
  [N in keyof F]: F[N] extends { readonly write: infer A; readonly search?: infer B } ? keyof A | keyof B : never;
}[keyof F];

/**
 * Maps a resource to its row in a table. The row is read as `R`; `W` is what is written of it. The compiler asks for every
 * field of the resource and for every column of `W`, so none is written and not read, or read and not written. These are
 * two calls, because TypeScript infers all types of a call or none.
 */
export function rowMapping<T extends object, R extends Row, W extends Row>() {
  return <const F extends Fields<T, R, W>>(
    table: string,
    fields: F & (keyof W extends WrittenBy<F> ? unknown : { readonly lacks: Exclude<keyof W, WrittenBy<F>> }),
  ) => new RowMapping<T, R, W>(table, fields);
}

/** The fields of a resource in its row: see `rowMapping`. */
class RowMapping<T extends object, R extends Row, W extends Row> {
  /** All columns that are written. */
  readonly columns: readonly (keyof W & string)[];
  /** Those of them that are read. */
  readonly readColumns: readonly (keyof W & keyof R & string)[];
  readonly #table: string;
  readonly #fields: readonly NamedField<T, R>[];
  readonly #written: readonly WrittenColumn<T, keyof W & string>[];

  constructor(table: string, fields: Fields<T, R, W>) {
    this.#table = table;
    const named = Object.entries(fields) as unknown as [keyof T, StoredField<unknown, R, W>][];
    this.#fields = named.map(([name, { read }]) => ({ name, read }));
    this.#written = named.flatMap(([name, { write, search = {} }]) =>
      Object.entries({ ...write, ...search }).map(([column, valueOf]) => ({ column, name, valueOf })),
    );
    this.columns = this.#written.map(({ column }) => column);
    this.readColumns = named.flatMap(([, { write }]) => Object.keys(write) as (keyof W & keyof R & string)[]);
  }

  /** The values of all columns, in their order. */
  values(resource: T): W[keyof W][] {
    return this.#written.map(({ name, valueOf }) => valueOf(resource[name]) as W[keyof W]);
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

  /**
   * Part of a transaction: writes the columns that differ to the row with this key: others, which may be in many indices,
   * cost time. Returns false if none does.
   */
  *update(key: Readonly<Record<string, SqlParameter>>, before: T, after: T): Change<boolean> {
    const [old, values] = [this.values(before), this.values(after)];
    const changed = this.columns.flatMap((column, index) => (old[index] === values[index] ? [] : [{ column, index }]));
    if (changed.length === 0) return false;
    const parameters: SqlParameter[] = [];
    const equal = (column: string, value: SqlParameter) => `${column} = $${parameters.push(value)}`;
    const assignments = changed.map(({ column, index }) => equal(column, values[index] as SqlValue));
    const conditions = Object.entries(key).map(([column, value]) => equal(column, value));
    const sql = `UPDATE ${this.#table} SET ${assignments.join(", ")} WHERE ${conditions.join(" AND ")}`;
    yield* all(cachedChange(sql), ...parameters);
    return true;
  }
}
