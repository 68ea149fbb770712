import { query } from "../../../storage/statement.ts";
import type { Storage } from "../../../storage/storage.ts";
import { first } from "../../../storage/transaction.ts";
import type { Clock } from "../../../timing/clock.ts";

type CountRow = { endpoints: bigint };

/** Milliseconds between two counts. They are rare because the statement reads all endpoints. */
const PERIOD = 60_000;

const countDisabled = query<[], CountRow>(
  "SELECT count(*) AS endpoints FROM webhook_endpoints WHERE state = 'disabled'",
);

/** How many webhook endpoints of all accounts are disabled. The process that delivers counts them. */
export class DisabledEndpoints {
  readonly #storage: Storage;
  readonly #clock: Clock;
  #counted = 0;
  #countedAt = Number.NEGATIVE_INFINITY;

  constructor(storage: Storage, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /** The last count; 0 in a process that no longer counts, because another one delivers. */
  get count(): number {
    return this.#age < 2 * PERIOD ? this.#counted : 0;
  }

  /** Counts them, once a minute. Rejects with `StorageUnavailable`. */
  async refresh(): Promise<void> {
    if (this.#age < PERIOD) return;
    const row = await this.#storage.read(first(countDisabled));
    this.#counted = Number(row?.endpoints);
    this.#countedAt = this.#clock.monotonic();
  }

  get #age(): number {
    return this.#clock.monotonic() - this.#countedAt;
  }
}
