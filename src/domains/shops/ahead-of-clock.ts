import type { ReadableStorage } from "../../storage/storage.ts";
import { all } from "../../storage/transaction.ts";
import type { Log } from "../../telemetry/log.ts";
import { type Clock, SECOND_MS } from "../../timing/clock.ts";
import { timesOfShops } from "./shops.statements.ts";

/** How far the clocks of two machines may differ without a warning, in milliseconds. */
const TOLERANCE = 5 * SECOND_MS;
/** How many shops are read at once. */
const PAGE = 500;

interface Parts {
  readonly storage: ReadableStorage;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Returns what looks for shops whose last change is later than the clock, because it was wrong then, or is now. Until the
 * clock passes that time, their events have the time of that change. Each call looks at some shops. After a pass over all
 * of them, it warns, unless the pass before has found one too.
 */
export function shopsAheadOfClock({ storage, clock, log }: Parts): () => Promise<void> {
  let last = 0;
  /** The shop that is the furthest ahead of those read so far in this pass. */
  let furthest: { accountId: string; milliseconds: number } | undefined;
  let wasAhead = false;
  return async () => {
    const rows = await storage.read(all(timesOfShops, last, PAGE));
    for (const { account_id: accountId, last_at } of rows) {
      const milliseconds = Number(last_at) - clock.now();
      if (milliseconds > (furthest?.milliseconds ?? TOLERANCE)) furthest = { accountId, milliseconds };
    }
    last = Number(rows.at(-1)?.shop ?? 0);
    if (rows.length === PAGE) return;
    last = 0;
    if (furthest && !wasAhead) {
      const { accountId, milliseconds } = furthest;
      log.warn("shop_ahead_of_clock", { accountId, seconds: Math.round(milliseconds / SECOND_MS) });
    }
    wasAhead = furthest !== undefined;
    furthest = undefined;
  };
}
