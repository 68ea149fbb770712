import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Statement } from "../statement.ts";
import type { Storage } from "../storage.ts";
import { final } from "../transaction.ts";

/** How long who leads does so without asking again, in milliseconds: when it dies, another takes over so soon. */
const LENGTH = 3_000;
/** How often each process asks, in milliseconds. */
const PERIOD = 1_000;

/** Whose time counts is the server's. A process that does not get the lease writes nothing. */
const take: Statement = {
  sql: `UPDATE petstore_leader
        SET holder = $1, ends_at = $2 + CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)
        WHERE only_row = 1
          AND (holder = $1 OR ends_at <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))
        RETURNING holder`,
};

/**
 * Which of all processes leads: a row that one of them holds for some seconds. Unlike a lock of a session it ends by
 * itself however its holder does, also when it is frozen or its machine is cut off.
 */
export class Lease {
  readonly #write: Storage["write"];
  /** Told to operators who look at the row: the machine and the process. */
  readonly #holder = `${hostname()} ${process.pid} ${randomUUID()}`;
  #askedAt = Number.NEGATIVE_INFINITY;
  #leads = false;

  constructor(write: Storage["write"]) {
    this.#write = write;
  }

  /** As `Storage.lead`. */
  async lead(): Promise<boolean> {
    const now = performance.now();
    if (now - this.#askedAt < PERIOD) return this.#leads;
    this.#askedAt = now;
    this.#leads = false;
    this.#leads = (await this.#write(() => final(take, this.#holder, LENGTH))) !== undefined;
    return this.#leads;
  }
}
