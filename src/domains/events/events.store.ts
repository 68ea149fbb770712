import type { ShopNumber } from "../../contract/caller.ts";
import { type Failure, failure } from "../../contract/errors.ts";
import type { EventFilter } from "../../contract/event-filter.ts";
import { type Condition, emptyPage, type Page, type PageSelection, readPage, SCAN_LIMIT } from "../../storage/pages.ts";
import { first, pause, type Read } from "../../storage/transaction.ts";
import { eventNotFound, type eventsExpired, expired } from "./events.operations.ts";
import type { Event } from "./events.schemas.ts";
import * as sql from "./events.statements.ts";
import { type StoredRange, toEvent, toStoredRange } from "./events.statements.ts";
import { columns, eventTable, smallColumns } from "./events.table.ts";

/** How many events are looked through in one piece of work. Some are large. */
const LOOKED_THROUGH = 250;

/** Which events to read; without filters, all. */
export interface EventFilters {
  readonly type?: readonly string[] | undefined;
  /** Types of events that are left out. */
  readonly hidden?: ReadonlySet<string>;
  /** Events of these resources. */
  readonly of?: readonly { readonly filter: EventFilter; readonly id: bigint }[];
  /** Unix milliseconds: events from this time on. */
  readonly since?: number | undefined;
  /** Unix milliseconds: events before this time. */
  readonly until?: number | undefined;
}

/** The events have been deleted; `first` is the first one that is stored. */
export interface Expired {
  readonly refused: "expired";
  readonly first: bigint;
}

/** The client named an event that does not exist yet: the store was restored, the sandbox reset, or the client is wrong. */
export interface NotYetStored {
  readonly refused: "not yet stored";
  readonly last: bigint;
}

/** A range of ids, both ends included. */
interface Ids {
  readonly from: bigint;
  readonly to: bigint;
}

/** Reads the logs of shops. */
export const eventLog = {
  /** One event. */
  *get(shop: ShopNumber, id: bigint): Read<Event | Failure<typeof eventNotFound | typeof eventsExpired>> {
    const row = yield* first(sql.byId, shop, id);
    if (row) return toEvent(row);
    const stored = yield* eventLog.storedRange(shop);
    return id >= 1n && id < stored.first && id <= stored.last
      ? expired(stored)
      : failure(eventNotFound, `No event has the id ${id}.`);
  },

  /** The ids of the stored events. */
  *storedRange(shop: ShopNumber): Read<StoredRange> {
    return toStoredRange(yield* first(sql.storedRange, shop));
  },

  /**
   * Up to `limit` events after `afterId`, the oldest first. If it has not read all, `next` is the last id that it has
   * read: a page may have fewer than `limit` events, although more follow.
   */
  *after(shop: ShopNumber, afterId: bigint, limit: number, filters: EventFilters = {}): Read<Page<Event> | Expired> {
    const page = yield* eventLog.between(shop, afterId, undefined, limit, filters, "id");
    return "refused" in page && page.refused !== "expired" ? emptyPage : page;
  },

  /**
   * Like `after` or, with `-id`, the newest first: before `beforeId` or, if it is absent, from the newest one on. Only
   * events after `afterId`, which must exist or have existed; without it, from the first stored event on.
   */
  *between(
    shop: ShopNumber,
    afterId: bigint | undefined,
    beforeId: bigint | undefined,
    limit: number,
    filters: EventFilters,
    sort: "id" | "-id",
  ): Read<Page<Event> | Expired | NotYetStored> {
    const stored = yield* eventLog.storedRange(shop);
    const { last } = stored;
    const to = idBefore(beforeId, last);
    if (afterId === undefined) return yield* readEvents(shop, { from: stored.first, to }, limit, filters, sort);
    const from = afterId < 0n ? 1n : afterId + 1n;
    if (from < stored.first) return { refused: "expired", first: stored.first };
    if (afterId > last) return { refused: "not yet stored", last };
    const page = yield* readEvents(shop, { from, to }, limit, filters, sort);
    if (from > last || page.items.some(({ id }) => id === from)) return page;
    const now = yield* eventLog.storedRange(shop); // events may have been deleted before the page was read
    return from < now.first ? { refused: "expired", first: now.first } : page;
  },
};

function* readEvents(
  shop: ShopNumber,
  ids: Ids,
  limit: number,
  filters: EventFilters,
  sort: "id" | "-id",
): Read<Page<Event>> {
  const { of = [], since, until, hidden } = filters;
  const types = filters.type?.filter((type) => !hidden?.has(type));
  if (types?.length === 0 || ids.from > ids.to) return emptyPage;
  const conditions: Condition[] = [];
  if (types) conditions.push((bind) => `type IN (${types.map(bind).join(", ")})`);
  let under: bigint | undefined;
  for (const { filter, id } of of) {
    const found = filter.find ? yield* filter.find(shop, id) : { under: id };
    if (!found || (under ?? found.under) !== found.under) return emptyPage;
    ({ under } = found);
    if ("subject" in found) conditions.push((bind) => `subject = ${bind(found.subject)}`);
  }
  const from = since === undefined ? ids.from : yield* firstIdSince(shop, ids, since);
  const to = until === undefined ? ids.to : (yield* firstIdSince(shop, ids, until)) - 1n;
  const bounds: Condition[] = [(bind) => (sort === "id" ? `id <= ${bind(to)}` : `id >= ${bind(from)}`)];
  const after = sort === "id" ? from - 1n : to + 1n;
  const lead = under === undefined ? undefined : { column: "under" as const, values: [under] };
  const list = { table: eventTable, columns, shop, after, limit, sort, lead, bounds, scannedColumns: smallColumns };
  const page = yield* search({ ...list, scanned: conditions });
  // Hidden events are rare, and most pages have none: a condition would triple the time of every page.
  if (!hidden || !page.items.some(({ type }) => hidden.has(type))) return page;
  conditions.push((bind) => `type NOT IN (${[...hidden].map(bind).join(", ")})`);
  return yield* search({ ...list, scanned: conditions });
}

/** Like `readPage`, but with conditions in pieces, between which others are served. */
function* search(
  list: PageSelection<typeof eventTable, (typeof columns)[number], never> & { readonly scanned: readonly Condition[] },
): Read<Page<Event>> {
  if (list.scanned.length === 0) return yield* readPage(list, toEvent);
  const items: Event[] = [];
  let { after } = list;
  for (let looked = LOOKED_THROUGH; ; looked += LOOKED_THROUGH) {
    const limit = list.limit - items.length;
    const page = yield* readPage({ ...list, after, limit, scanLimit: LOOKED_THROUGH }, toEvent);
    items.push(...page.items);
    if (page.next === undefined || items.length === list.limit || looked >= SCAN_LIMIT) {
      return { ...page, items, positionAt: (place) => (items[place] as Event).id };
    }
    after = page.next;
    yield* pause();
  }
}

/** The first of these ids whose event is not before a time; `to` + 1 if all are before it. */
function* firstIdSince(shop: ShopNumber, { from, to }: Ids, time: number): Read<bigint> {
  const found = yield* first(sql.firstSince, from, to, time, shop);
  if (found) return found.id;
  const { first: now } = yield* eventLog.storedRange(shop); // events were deleted after the range was read
  return now > from && now <= to ? yield* firstIdSince(shop, { from: now, to }, time) : to + 1n;
}

/** The last id that an event before this one can have; `last` is the newest. */
function idBefore(id: bigint | undefined, last: bigint): bigint {
  return id === undefined || id > last ? last : id - 1n;
}
