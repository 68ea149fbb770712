import { acrossShops, change, query, type Row } from "../../storage/statement.ts";
import type { Storage } from "../../storage/storage.ts";
import { all, type Change, first, type Query } from "../../storage/transaction.ts";
import { type Clock, DAY_MS } from "../../timing/clock.ts";
import { offsetsOf, startOfDay } from "../../timing/time-zones.ts";
import { firstSince, storedRange, toStoredRange } from "../events/events.statements.ts";
import { eventsOf } from "../events/new-event.ts";
import { type Author, publish } from "../events/publish.ts";
import { type daily, type LockedShop, localDay } from "./figures.ts";
import { type ShopPatch, type ShopSettings, shopUpdated } from "./shops.operations.ts";
import { lockShop, ShopDeleted } from "./shops.store.ts";

/** The most events that are read to count a day again. Those before are not counted. */
const MOST_EVENTS = 10_000n;
/** The most shops whose offset is renewed at once. */
const SHOPS = 100;
/** The offset of a zone is looked up at least this often, because laws change it. */
const LOOKED_UP_EVERY = 30 * DAY_MS;

interface SettingsRow extends Row {
  time_zone: string;
  currency: string | null;
}
type Offsets = [offset: number, until: number | null, next: number];
type CountsRow = { [Name in (typeof daily)[number]]: bigint } & { at: bigint | null };

const settingsOf = query<[shop: number], SettingsRow>("SELECT time_zone, currency FROM shops WHERE shop = $1");
const setCurrency = change<[shop: number, currency: string | null]>("UPDATE shops SET currency = $2 WHERE shop = $1");
const setTimeZone = change<[shop: number, timeZone: string, ...Offsets]>(
  "UPDATE shops SET time_zone = $2, utc_offset = $3, offset_until = $4, next_offset = $5 WHERE shop = $1",
);
const setOffsets = change<[shop: number, timeZone: string, ...Offsets]>(
  "UPDATE shops SET utc_offset = $3, offset_until = $4, next_offset = $5 WHERE shop = $1 AND time_zone = $2",
);
const outdated = acrossShops<[now: number, limit: number], { shop: bigint; offset_until: bigint }>(
  `SELECT shop, offset_until FROM shops WHERE offset_until <= $1 AND account_id IS NOT NULL
   ORDER BY offset_until LIMIT $2`,
);
// The name of an animal holds no plain quote in JSON, and the values of metadata are texts: so the status is the animal's
// own if it comes before the metadata. Each sale has such an event, too.
const names = (field: "data" | "previous", status: string) =>
  `(${field} LIKE '%${status}%"metadata":{%' OR (${field} LIKE '%${status}%' AND ${field} NOT LIKE '%"metadata":{%'))`;
const isSold = `type = 'pet.updated' AND ${names("data", '"status":"sold"')} AND ${names("previous", '"status":')}`;
const count = (condition: string) => `coalesce(sum(CASE WHEN ${condition} THEN 1 ELSE 0 END), 0)`;
const counts = query<[shop: number, from: bigint], CountsRow>(
  `SELECT ${count("type = 'pet.created'")} AS added, ${count("type = 'order.confirmed'")} AS sold,
     ${count(isSold)} - ${count("type = 'order.confirmed'")} AS marked_sold, ${count("type = 'order.expired'")} AS expired,
     ${count("type = 'order.returned'")} AS returned, min(at) AS at
   FROM events WHERE shop = $1 AND id >= $2`,
);
const setCounts = change<[shop: number, now: number, since: bigint, ...counts: bigint[]]>(
  `UPDATE shops SET counted_since = $3,
     ${["added", "sold", "marked_sold", "expired", "returned"].map((name, index) => `${name}_count = $${index + 4}, ${name}_day = ${localDay("$2")}`).join(", ")}
   WHERE shop = $1`,
);

const event = eventsOf<ShopSettings & { readonly id: string }>(({ id }) => ({ under: null, subjectId: id }));

/** The shop's own currency, if it has one. */
export function* currencyOf(shop: number): Query<string | undefined> {
  return (yield* first(settingsOf, shop))?.currency ?? undefined;
}

/** The shop's own time zone. Throws `ShopDeleted`. */
export function* timeZoneOf(shop: number): Query<string> {
  const row = yield* first(settingsOf, shop);
  if (!row) throw new ShopDeleted();
  return row.time_zone;
}

/** The settings of shops that their owners change. */
export class ShopSettingsStore {
  readonly #storage: Storage;
  readonly #clock: Clock;

  constructor(storage: Storage, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /**
   * Part of a transaction: changes the settings in the patch. In another time zone, today begins at another time, so its
   * figures are counted again.
   */
  *update(author: Author, accountId: string, patch: ShopPatch): Change<void> {
    const { shop } = author;
    const locked = yield* lockShop(shop, this.#clock.now());
    const row = (yield* first(settingsOf, shop)) as SettingsRow;
    const before = { id: accountId, ...toSettings(row) };
    const currency = patch.currency === undefined ? row.currency : patch.currency;
    const after = { id: accountId, ...toSettings({ time_zone: patch.timeZone ?? row.time_zone, currency }) };
    const isMoved = after.timeZone !== before.timeZone;
    if (!isMoved && after.currency === before.currency) return;
    yield* all(setCurrency, shop, currency);
    if (isMoved) {
      yield* all(setTimeZone, shop, after.timeZone, ...offsetsAt(after.timeZone, locked.now));
      yield* countToday(locked, after.timeZone);
    }
    yield* publish(locked, author, [event(shopUpdated, after, before)]);
  }

  /** Looks the offsets of time zones up that have changed, or could have. Later calls renew what one call does not. */
  async renewOffsets(): Promise<void> {
    const now = this.#clock.now();
    for (const row of await this.#storage.read(all(outdated, now, SHOPS))) {
      const shop = Number(row.shop);
      const timeZone = (await this.#storage.read(first(settingsOf, shop)))?.time_zone;
      if (timeZone === undefined) continue;
      await this.#storage.write(() => all(setOffsets, shop, timeZone, ...offsetsAt(timeZone, now)));
    }
  }
}

function toSettings({ time_zone: timeZone, currency }: SettingsRow): ShopSettings {
  return currency === null ? { timeZone } : { timeZone, currency };
}

/** What the row of a shop in this time zone holds of it. UTC is never looked up again. */
function offsetsAt(timeZone: string, now: number): Offsets {
  const [current, next] = offsetsOf(timeZone, now, now + LOOKED_UP_EVERY);
  if (timeZone === "UTC" || !current) return [0, null, 0];
  return [
    current.offset,
    current.end,
    next?.offset ?? offsetsOf(timeZone, current.end, current.end + 1)[0]?.offset ?? 0,
  ];
}

/** Part of a transaction: counts the figures of today again, from the newest events. */
function* countToday(locked: LockedShop, timeZone: string): Change<void> {
  const { shop, lastEventId, now } = locked;
  const stored = toStoredRange(yield* first(storedRange, shop));
  const isCut = lastEventId - stored.first >= MOST_EVENTS;
  const from = isCut ? lastEventId - MOST_EVENTS + 1n : stored.first;
  const start = (yield* first(firstSince, from, lastEventId, startOfDay(timeZone, now), shop))?.id ?? lastEventId + 1n;
  const counted = (yield* first(counts, shop, start)) as CountsRow;
  const since = isCut && start === from ? (counted.at ?? 0n) : 0n;
  const { added, sold, marked_sold, expired, returned } = counted;
  // Where the first event counted is the second one of a sale, there is one sale less than sold animals.
  yield* all(setCounts, shop, now, since, added, sold, marked_sold < 0n ? 0n : marked_sold, expired, returned);
}
