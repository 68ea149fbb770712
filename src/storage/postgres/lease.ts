import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Row, Statement, Values } from "../statement.ts";

/** How long a lease lasts, in milliseconds. If the leader dies, another process takes over after this time. */
const LENGTH = 3_000;
/** How often each process tries to take or renew the lease, in milliseconds. */
const PERIOD = 1_000;

/** Ends the text of `holder` if the process leads only while no other one does. */
const SUBSTITUTE = "as substitute";

/** Takes or renews the lease by the server's clock. Writes nothing if another process holds it. */
const takeIf = (condition: string): Statement => ({
  sql: `UPDATE petstore_leader
        SET holder = $1, ends_at = $2 + CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)
        WHERE only_row = 1
          AND (${condition} OR ends_at <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))
        RETURNING holder`,
});
const take = takeIf(`holder = $1 OR holder LIKE '% ${SUBSTITUTE}'`);
const takeAsSubstitute = takeIf("holder = $1");

/**
 * Chooses the leader among all processes: the one that holds a row for a few seconds. Unlike a session lock, the lease
 * expires even if its holder is frozen or its machine is disconnected.
 */
export class Lease {
  readonly #run: (statement: Statement, parameters: Values) => Promise<Row[]>;
  /** Unique. The machine and the process id help operators who look at the row. */
  readonly #holder = `${hostname()} ${process.pid} ${randomUUID()}`;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #leads = false;

  /** `run` runs a statement as a transaction. */
  constructor(run: (statement: Statement, parameters: Values) => Promise<Row[]>) {
    this.#run = run;
  }

  /** See `Storage.lead`. */
  async lead(asSubstitute: boolean): Promise<boolean> {
    const now = performance.now();
    if (now - this.#checkedAt < PERIOD) return this.#leads;
    this.#checkedAt = now;
    this.#leads = false;
    const [statement, holder] = asSubstitute
      ? [takeAsSubstitute, `${this.#holder} ${SUBSTITUTE}`]
      : [take, this.#holder];
    this.#leads = (await this.#run(statement, [holder, LENGTH])).length > 0;
    return this.#leads;
  }
}
