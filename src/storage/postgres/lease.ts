import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { EngineSql, Row, Values } from "../statement.ts";

/** How long a lease lasts, in milliseconds. If the leader dies, another process takes over after this time. */
const LENGTH = 3_000;
/** How often each process tries to take or renew the lease, in milliseconds. */
const PERIOD = 1_000;

/** Takes or renews the lease by the server's clock. Writes nothing if another process holds it. */
const take: EngineSql = {
  sql: `UPDATE petstore_leader
        SET holder = $1, ends_at = $2 + CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)
        WHERE only_row = 1
          AND (holder = $1 OR ends_at <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))
        RETURNING holder`,
};

/**
 * Chooses the leader among all processes: the one that holds a row for a few seconds. Unlike a session lock, the lease
 * expires even if its holder is frozen or its machine is disconnected.
 */
export class Lease {
  readonly #run: (statement: EngineSql, parameters: Values) => Promise<Row[]>;
  /** Unique. The machine and the process id help operators who look at the row. */
  readonly #holder = `${hostname()} ${process.pid} ${randomUUID()}`;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #leads = false;

  /** `run` runs a statement as a transaction. */
  constructor(run: (statement: EngineSql, parameters: Values) => Promise<Row[]>) {
    this.#run = run;
  }

  /** See `Upkeep.lead`. */
  async lead(): Promise<boolean> {
    const now = performance.now();
    if (now - this.#checkedAt < PERIOD) return this.#leads;
    this.#checkedAt = now;
    this.#leads = false;
    this.#leads = (await this.#run(take, [this.#holder, LENGTH])).length > 0;
    return this.#leads;
  }
}
