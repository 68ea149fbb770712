import { query } from "../../../storage/statement.ts";
import type { ReadableStorage } from "../../../storage/storage.ts";
import { first } from "../../../storage/transaction.ts";
import type { Clock } from "../../../timing/clock.ts";

/** Milliseconds between two counts. They are rare because the statement reads all endpoints. */
const PERIOD = 60_000;

const countDisabled = query<[], { endpoints: bigint }>(
  "SELECT count(*) AS endpoints FROM webhook_endpoints WHERE state = 'disabled'",
);

/** How many webhook endpoints of all accounts are disabled. The process that delivers counts them. */
export function disabledEndpoints(storage: ReadableStorage, clock: Clock) {
  let counted = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  const age = () => clock.monotonic() - countedAt;
  return {
    /** The last count; 0 in a process that no longer counts, because another one delivers. */
    last: () => (age() < 2 * PERIOD ? counted : 0),

    /** Counts them, once a minute. Rejects with `StorageUnavailable`. */
    async count(): Promise<void> {
      if (age() < PERIOD) return;
      counted = Number((await storage.read(first(countDisabled)))?.endpoints);
      countedAt = clock.monotonic();
    },
  };
}
