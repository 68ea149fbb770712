import { present } from "../../collections/present.ts";
import { type ShopNumber, shopNumber } from "../../contract/caller.ts";
import { inColumn, rowMapping } from "../../storage/row-mapping.ts";
import { acrossShops, change, query } from "../../storage/statement.ts";
import type { Storage } from "../../storage/storage.ts";
import { all, type Change, first, pause, type Query, type Read } from "../../storage/transaction.ts";
import { type Clock, DAY_MS } from "../../timing/clock.ts";
import { offsetsOf, startOfDay } from "../../timing/time-zones.ts";
import { firstSince, storedRange, toStoredRange } from "../events/events.statements.ts";
import { eventsOf } from "../events/new-event.ts";
import { type Author, publish } from "../events/publish.ts";
import { type DayFigure, localDay } from "./figures.ts";
import { type ShopPatch, type ShopSettings, shopUpdated } from "./shops.operations.ts";
import { lockShop, ShopDeleted } from "./shops.store.ts";

/** The most events that are read to count a day again. Those before are not counted. */
const MOST_EVENTS = 10_000n;
/** How many events are counted at once. */
const PIECE = 1_000n;
/** The most shops whose offset is renewed at once. */
const SHOPS = 100;
/** The offset of a zone is looked up at least this often, because laws change it. */
const LOOKED_UP_EVERY = 30 * DAY_MS;

type SettingsRow = { time_zone: string; currency: string | null };
/** How settings are kept in the row of their shop. */
const fields = rowMapping<ShopSettings, SettingsRow, SettingsRow>()("shops", {
  timeZone: inColumn("time_zone"),
  currency: inColumn("currency"),
});
type Offsets = [offset: number, until: number | null, next: number];
type CountsRow = Record<string, bigint | null>;

/** The figures of today, up to an event. */
export interface Counted {
  /** When the day was that is counted, in Unix milliseconds. */
  readonly now: number;
  /** The last event that is counted. */
  readonly last: bigint;
  /** The time of the first event that is counted; 0 if all of the day are. */
  readonly since: bigint;
  /** In the order in which they are registered. */
  readonly figures: readonly bigint[];
}

const settingsOf = query<[shop: ShopNumber], SettingsRow>(
  `SELECT ${fields.columns.join(", ")} FROM shops WHERE shop = $1`,
);
const setOffsets = change<[shop: ShopNumber, timeZone: string, ...Offsets]>(
  "UPDATE shops SET utc_offset = $3, offset_until = $4, next_offset = $5 WHERE shop = $1 AND time_zone = $2",
);
const outdated = acrossShops<[now: number, limit: number], { shop: bigint; offset_until: bigint }>(
  `SELECT shop, offset_until FROM shops WHERE offset_until <= $1 AND account_id IS NOT NULL
   ORDER BY offset_until LIMIT $2`,
);

const event = eventsOf<ShopSettings & { readonly id: string }>(({ id }) => ({ under: null, subjectId: id }));

/** The shop's own currency, if it has one. */
export function* currencyOf(shop: ShopNumber): Query<string | undefined> {
  return (yield* first(settingsOf, shop))?.currency ?? undefined;
}

/** The shop's own time zone. Throws `ShopDeleted`. */
export function* timeZoneOf(shop: ShopNumber): Query<string> {
  const row = yield* first(settingsOf, shop);
  if (!row) throw new ShopDeleted();
  return row.time_zone;
}

/** The statements that count the figures of a day again. */
export function dayCounts(today: readonly DayFigure[]) {
  const counted = today.map(({ name, inEvents }) => `${inEvents} AS ${name}`);
  const set = today.map(({ name }, index) => `${name}_count = $${index + 4}, ${name}_day = ${localDay("$2")}`);
  return {
    today,
    counts: query<[shop: ShopNumber, from: bigint, to: bigint], CountsRow>(
      `SELECT ${[...counted, "min(at) AS at"].join(", ")} FROM events WHERE shop = $1 AND id >= $2 AND id <= $3`,
    ),
    setCounts: change<[shop: ShopNumber, now: number, since: bigint, ...counts: bigint[]]>(
      `UPDATE shops SET ${["counted_since = $3", ...set].join(", ")} WHERE shop = $1`,
    ),
  };
}

/** The settings of shops that their owners change. */
export class ShopSettingsStore {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #days: ReturnType<typeof dayCounts>;

  constructor(storage: Storage, clock: Clock, days: ReturnType<typeof dayCounts>) {
    this.#storage = storage;
    this.#clock = clock;
    this.#days = days;
  }

  /** Counts the figures of today in another time zone, from the newest events. */
  *count(shop: ShopNumber, timeZone: string): Read<Counted> {
    const now = this.#clock.now();
    const { first: oldest, last } = toStoredRange(yield* first(storedRange, shop));
    const isCut = last - oldest >= MOST_EVENTS;
    const from = isCut ? last - MOST_EVENTS + 1n : oldest;
    const start = (yield* first(firstSince, from, last, startOfDay(timeZone, now), shop))?.id ?? last + 1n;
    let counted: Counted = { now, last: start - 1n, since: 0n, figures: this.#days.today.map(() => 0n) };
    while (counted.last < last) {
      const end = counted.last + PIECE < last ? counted.last + PIECE : last;
      counted = yield* this.#countOn(shop, counted, end);
      yield* pause();
    }
    return isCut && start === from ? counted : { ...counted, since: 0n };
  }

  /**
   * Part of a transaction: changes the settings in the patch. In another time zone, today begins at another time, so its
   * figures are those that were counted before.
   */
  *update(author: Author, accountId: string, patch: ShopPatch, counted: Counted | undefined): Change<void> {
    const { shop } = author;
    const locked = yield* lockShop(shop, this.#clock.now());
    const row = (yield* first(settingsOf, shop)) as SettingsRow;
    const before = fields.read(row, { id: accountId });
    const after = present<typeof before>({ ...before, ...patch });
    if (!(yield* fields.update({ shop }, before, after))) return;
    if (counted && after.timeZone !== before.timeZone) {
      yield* all(setOffsets, shop, after.timeZone, ...offsetsAt(after.timeZone, locked.now));
      const { now, since } = counted;
      const { figures } = yield* this.#countOn(shop, counted, locked.lastEventId);
      // Where the first event counted is the second one of a sale, there is one sale less than sold animals.
      yield* all(this.#days.setCounts, shop, now, since, ...figures.map((figure) => (figure < 0n ? 0n : figure)));
    }
    yield* publish(locked, author, [event(shopUpdated, after, before)]);
  }

  /** Looks the offsets of time zones up that have changed, or could have. Later calls renew what one call does not. */
  async renewOffsets(): Promise<void> {
    const now = this.#clock.now();
    for (const row of await this.#storage.read(all(outdated, now, SHOPS))) {
      const shop = shopNumber(row.shop);
      const timeZone = (await this.#storage.read(first(settingsOf, shop)))?.time_zone;
      if (timeZone === undefined) continue;
      await this.#storage.write(() => all(setOffsets, shop, timeZone, ...offsetsAt(timeZone, now)));
    }
  }

  /** Adds the figures of the events up to this id. */
  *#countOn(shop: ShopNumber, { now, last, since, figures }: Counted, end: bigint): Query<Counted> {
    const row = (yield* first(this.#days.counts, shop, last + 1n, end)) as CountsRow;
    const sums = this.#days.today.map(({ name }, index) => (figures[index] ?? 0n) + (row[name] ?? 0n));
    return { now, last: end, since: since || (row["at"] ?? 0n), figures: sums };
  }
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
