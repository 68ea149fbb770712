import type { Row, SqlParameter, Statement } from "../statement.ts";

/** A look-up of this turn of the event loop. */
interface Lookup {
  readonly key: readonly SqlParameter[];
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** The maximum number of look-ups in one statement. It bounds how long the statement blocks its connection. */
const AT_ONCE = 250;
/** The column with the number of the look-up that a row belongs to, from 1. */
const NUMBER = "lookup_number";

/**
 * Finds rows by key (see `lookUp`). Look-ups with the same statement in one turn of the event loop are sent as one
 * statement, which costs the server and this process less.
 */
export class Lookups {
  readonly #read: (statement: Statement, parameters: readonly SqlParameter[]) => Promise<Row[]>;
  readonly #together = new Map<Statement, Statement>();
  readonly #waiting = new Map<Statement, Lookup[]>();

  constructor(read: (statement: Statement, parameters: readonly SqlParameter[]) => Promise<Row[]>) {
    this.#read = read;
  }

  find(statement: Statement, key: readonly SqlParameter[]): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      const lookup = { key, resolve, reject };
      const others = this.#waiting.get(statement);
      if (others) others.push(lookup);
      else {
        if (this.#waiting.size === 0) setImmediate(this.#endTurn);
        this.#waiting.set(statement, [lookup]);
      }
    });
  }

  readonly #endTurn = (): void => {
    for (const [statement, lookups] of this.#waiting) {
      while (lookups.length > 0) void this.#findAll(statement, lookups.splice(0, AT_ONCE));
    }
    this.#waiting.clear();
  };

  async #findAll(statement: Statement, lookups: readonly Lookup[]): Promise<void> {
    try {
      const [only] = lookups;
      if (lookups.length === 1 && only) {
        only.resolve((await this.#read(statement, only.key))[0]);
        return;
      }
      const columns = (only?.key ?? []).map((_, index) => `{${lookups.map(({ key }) => key[index]).join(",")}}`);
      const rows = await this.#read(this.#togetherFor(statement, columns.length), columns);
      const found = new Map(rows.map((row) => [Number(row[NUMBER]), row]));
      for (const [index, { resolve }] of lookups.entries()) resolve(found.get(index + 1));
    } catch (error) {
      for (const { reject } of lookups) reject(error);
    }
  }

  #togetherFor(statement: Statement, keyLength: number): Statement {
    let together = this.#together.get(statement);
    if (!together) this.#together.set(statement, (together = lookUpTogether(statement, keyLength)));
    return together;
  }
}

/**
 * The statement for lists of keys. Each parameter is a PostgreSQL array as text. It runs the original query for each
 * key.
 */
function lookUpTogether({ sql }: Statement, keyLength: number): Statement {
  const numbers = Array.from({ length: keyLength }, (_, index) => index + 1);
  const lists = numbers.map((number) => `CAST(CAST($${number} AS TEXT) AS BIGINT[])`);
  const names = numbers.map((number) => `key_${number}`);
  return {
    sql: `SELECT given.${NUMBER}, found.* FROM unnest(${lists.join(", ")}) WITH ORDINALITY AS given (${names.join(", ")}, ${NUMBER})
      CROSS JOIN LATERAL (${sql.replaceAll(/\$(\d+)/g, "given.key_$1")} LIMIT 1) AS found`,
  };
}
