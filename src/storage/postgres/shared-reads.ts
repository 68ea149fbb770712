import type { QueryStatement, Row, SqlParameter, Values } from "../statement.ts";

/** A read of this turn of the event loop. */
interface WaitingRead {
  readonly parameters: Values;
  readonly resolve: (rows: Row[]) => void;
  readonly reject: (error: unknown) => void;
}

/** The maximum number of look-ups and pages in one statement. They bound how long it blocks its connection. */
const LOOK_UPS_AT_ONCE = 250;
const PAGES_AT_ONCE = 32;
/** The column with the number of the read that a row belongs to, from 1. */
const NUMBER = "read_number";

/** True if requests of one turn of the event loop share the statement. */
export function isShared({ isLookUp, isPage }: QueryStatement): boolean {
  return isLookUp === true || isPage === true;
}

/**
 * Reads rows by key, and pages (see `lookUp` and `pageRead`). Those with the same statement in one turn of the event
 * loop are sent as one statement, which costs the server and this process less.
 */
export class SharedReads {
  readonly #read: (statement: QueryStatement, parameters: Values) => Promise<Row[]>;
  readonly #together = new Map<QueryStatement, QueryStatement>();
  #waiting = new Map<QueryStatement, WaitingRead[]>();

  constructor(read: (statement: QueryStatement, parameters: Values) => Promise<Row[]>) {
    this.#read = read;
  }

  rows(statement: QueryStatement, parameters: Values): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      const read = { parameters, resolve, reject };
      const others = this.#waiting.get(statement);
      if (others) others.push(read);
      else {
        if (this.#waiting.size === 0) setImmediate(this.#endTurn);
        this.#waiting.set(statement, [read]);
      }
    });
  }

  readonly #endTurn = (): void => {
    const waiting = this.#waiting;
    // Not `clear`: a map keeps cleared entries alive until the next full garbage collection.
    this.#waiting = new Map();
    for (const [statement, reads] of waiting) {
      const atOnce = statement.isPage ? PAGES_AT_ONCE : LOOK_UPS_AT_ONCE;
      while (reads.length > 0) void this.#readAll(statement, reads.splice(0, atOnce));
    }
  };

  async #readAll(statement: QueryStatement, reads: readonly WaitingRead[]): Promise<void> {
    try {
      const [only] = reads;
      if (reads.length === 1 && only) {
        only.resolve(await this.#read(statement, only.parameters));
        return;
      }
      const [types, lists] = listsOf(reads.map(({ parameters }) => parameters));
      const found: Row[][] = reads.map(() => []);
      for (const row of await this.#read(this.#togetherFor(statement, types), lists)) {
        found[Number(row[NUMBER]) - 1]?.push(row);
      }
      for (const [index, { resolve }] of reads.entries()) resolve(found[index] ?? []);
    } catch (error) {
      for (const { reject } of reads) reject(error);
    }
  }

  #togetherFor(statement: QueryStatement, types: readonly string[]): QueryStatement {
    return this.#together.getOrInsertComputed(statement, () => readTogether(statement, types));
  }
}

/** Several parameter lists of one statement as one: the SQL type and the values of each parameter, in order. */
export function listsOf(all: readonly Values[]): [types: string[], lists: string[]] {
  const [first = []] = all;
  return [first.map(typeOf), first.map((_, index) => arrayOf(all.map((parameters) => parameters[index] ?? null)))];
}

/**
 * The statement for lists of parameters (see `listsOf`). It runs the original query for each element of the lists, in
 * their order: a nested loop keeps it.
 */
export function readTogether({ sql, sqlFor, isLookUp }: QueryStatement, types: readonly string[]): QueryStatement {
  const lists = types.map((type, index) => `CAST(CAST($${index + 1} AS TEXT) AS ${type}[])`);
  const names = types.map((_, index) => `value_${index + 1}`);
  // The limit makes the planner run the query for each element, instead of joining the list with whole tables.
  const query = `${sqlFor?.((number) => `given.value_${number}`) ?? sql}${isLookUp ? " LIMIT 1" : ""}`;
  return {
    sql: `SELECT given.${NUMBER}, found.* FROM unnest(${lists.join(", ")}) WITH ORDINALITY AS given (${names.join(", ")}, ${NUMBER})
      CROSS JOIN LATERAL (${query}) AS found`,
    kind: "query",
  };
}

function typeOf(parameter: SqlParameter): string {
  return typeof parameter === "string" ? "TEXT" : "BIGINT";
}

/** A PostgreSQL array as text. */
function arrayOf(values: Values): string {
  return `{${values.map((value) => (typeof value === "string" ? quoted(value) : value)).join(",")}}`;
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
