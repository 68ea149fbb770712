import { type ShopNumber, shopNumber } from "../../contract/caller.ts";
import { acrossShops, change, type Row } from "../../storage/statement.ts";
import type { Storage } from "../../storage/storage.ts";
import { all, first } from "../../storage/transaction.ts";
import { DAY_MS, type ExpiryTime } from "../../timing/clock.ts";
import { Pause } from "../../timing/waiting.ts";
import { firstSince } from "./events.statements.ts";

/** A shop and its oldest event. The event's columns are null if the shop has no event. */
interface OldestRow extends Row {
  shop: bigint;
  id: bigint | null;
  at: bigint | null;
  /** The id of the newest event. */
  last_id: bigint;
}

/** The most shops that one statement reads, and the most events that one deletes. Each takes some milliseconds. */
const SHOPS = 100;
const EVENTS = 500n;
/** Deletions in one round of background work. The next round deletes the rest. */
const DELETIONS = 20;
/** The pause between two scans of all shops, in milliseconds. */
const PAUSE = 600_000;

// Scans by shop and not by time: an index of events by time would make every change slower.
const oldestAfter = acrossShops<[shop: bigint, limit: number], OldestRow>(
  `SELECT shops.shop, oldest.id, oldest.at, last_event_id AS last_id FROM shops LEFT JOIN events AS oldest
     ON oldest.shop = shops.shop AND oldest.id = (SELECT min(id) FROM events WHERE events.shop = shops.shop)
   WHERE shops.shop > $1 ORDER BY shops.shop LIMIT $2`,
);
const removeBefore = change<[shop: ShopNumber, id: bigint]>("DELETE FROM events WHERE shop = $1 AND id < $2");

/**
 * Returns what deletes events that are older than this many days, a few in each call, if the pause is over. The newest is
 * always kept, so that clients can always continue after it.
 */
export function eventRetention(storage: Storage, days: number): (now: ExpiryTime) => Promise<void> {
  const pause = new Pause(PAUSE);
  /** The last shop that was read. */
  let lastShop = 0n;
  return async (now) => {
    if (!pause.isOver(now)) return;
    const rows = await storage.read(all(oldestAfter, lastShop, SHOPS));
    let deletions = 0;
    const before = now - days * DAY_MS;
    for (const { shop, id, at, last_id } of rows) {
      let from = at !== null && Number(at) < before ? id : null;
      while (from !== null && from < last_id) {
        if (deletions++ === DELETIONS) return;
        const last = from + EVENTS < last_id ? from + EVENTS - 1n : last_id - 1n;
        const end = (await storage.read(first(firstSince, from, last, before, shopNumber(shop))))?.id ?? from;
        await storage.write(() => all(removeBefore, shopNumber(shop), end));
        // If all events of the batch were too old, those after it may be too.
        from = end > last ? end : null;
      }
      lastShop = shop;
    }
    if (rows.length === SHOPS) return;
    lastShop = 0n;
    pause.start(now);
  };
}
