import { type Condition, emptyPage, type Page, readPage } from "../../storage/pages.ts";
import { first, type Read } from "../../storage/transaction.ts";
import type { Event } from "./events.schemas.ts";
import * as sql from "./events.statements.ts";
import { columns, type StoredRange, smallColumns, toEvent, toStoredRange } from "./events.statements.ts";

/** Which events to read; without filters, all. */
export interface EventFilters {
  readonly type?: readonly string[] | undefined;
  /** Types of events that are left out. */
  readonly hidden?: ReadonlySet<string>;
  /** Events of this animal and of its orders. */
  readonly petId?: bigint | undefined;
  readonly orderId?: bigint | undefined;
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
export class EventLog {
  /** One event. */
  *get(shop: number, id: bigint): Read<Event | "not found" | Expired> {
    const row = yield* first(sql.byId, shop, id);
    if (row) return toEvent(row);
    const stored = yield* this.storedRange(shop);
    return id >= 1n && id < stored.first && id <= stored.last
      ? { refused: "expired", first: stored.first }
      : "not found";
  }

  /** The ids of the stored events. */
  *storedRange(shop: number): Read<StoredRange> {
    return toStoredRange(yield* first(sql.storedRange, shop));
  }

  /**
   * Up to `limit` events after `afterId`, the oldest first. If it has not read all, `next` is the last id that it has
   * read: a page may have fewer than `limit` events, although more follow.
   */
  *after(shop: number, afterId: bigint, limit: number, filters: EventFilters = {}): Read<Page<Event> | Expired> {
    const page = yield* this.between(shop, afterId, undefined, limit, filters, "id");
    return "refused" in page && page.refused !== "expired" ? emptyPage : page;
  }

  /** Like `after`, but from the first stored event on. */
  *first(shop: number, limit: number, filters: EventFilters = {}): Read<Page<Event>> {
    const stored = yield* this.storedRange(shop);
    return yield* this.#page(shop, { from: stored.first, to: stored.last }, limit, filters, "id");
  }

  /**
   * Up to `limit` events, the newest first: before `beforeId` or, if it is absent, from the newest one on. `next` is as in
   * `after`.
   */
  *before(shop: number, beforeId: bigint | undefined, limit: number, filters: EventFilters = {}): Read<Page<Event>> {
    const stored = yield* this.storedRange(shop);
    const ids = { from: stored.first, to: idBefore(beforeId, stored.last) };
    return yield* this.#page(shop, ids, limit, filters, "-id");
  }

  /** Like `after` or, with `-id`, like `before`, but only events after `afterId`, which must exist or have existed. */
  *between(
    shop: number,
    afterId: bigint,
    beforeId: bigint | undefined,
    limit: number,
    filters: EventFilters,
    sort: "id" | "-id",
  ): Read<Page<Event> | Expired | NotYetStored> {
    const stored = yield* this.storedRange(shop);
    const { last } = stored;
    const from = idAfter(afterId);
    if (from < stored.first) return { refused: "expired", first: stored.first };
    if (afterId > last) return { refused: "not yet stored", last };
    const page = yield* this.#page(shop, { from, to: idBefore(beforeId, last) }, limit, filters, sort);
    if (from > last || page.items.some(({ id }) => id === from)) return page;
    const now = yield* this.storedRange(shop); // events may have been deleted before the page was read
    return from < now.first ? { refused: "expired", first: now.first } : page;
  }

  *#page(shop: number, ids: Ids, limit: number, filters: EventFilters, sort: "id" | "-id"): Read<Page<Event>> {
    const { orderId, since, until, hidden } = filters;
    const types = filters.type?.filter((type) => !hidden?.has(type));
    const petId = orderId === undefined ? filters.petId : yield* this.#petOf(shop, orderId, filters.petId);
    if (petId === "none" || types?.length === 0 || ids.from > ids.to) return emptyPage;
    const from = since === undefined ? ids.from : yield* this.#firstSince(shop, ids, since);
    const to = until === undefined ? ids.to : (yield* this.#firstSince(shop, ids, until)) - 1n;
    const conditions: Condition[] = [];
    if (types) conditions.push((bind) => `type IN (${types.map(bind).join(", ")})`);
    // It is null if the animal itself changed.
    if (orderId !== undefined) conditions.push((bind) => `subject = ${bind(String(orderId))}`);
    const bounds: Condition[] = [(bind) => (sort === "id" ? `id <= ${bind(to)}` : `id >= ${bind(from)}`)];
    const after = sort === "id" ? from - 1n : to + 1n;
    const lead = petId === undefined ? undefined : { column: "pet_id", values: [petId] };
    const list = { table: "events", columns, shop, after, limit, sort, lead, bounds, scannedColumns: smallColumns };
    const page = yield* readPage({ ...list, scanned: conditions }, toEvent);
    // Hidden events are rare, and most pages have none: a condition would triple the time of every page.
    if (!hidden || !page.items.some(({ type }) => hidden.has(type))) return page;
    conditions.push((bind) => `type NOT IN (${[...hidden].map(bind).join(", ")})`);
    return yield* readPage({ ...list, scanned: conditions }, toEvent);
  }

  /** The animal of an order, which never changes; `none` if there is no such order, or it is for another animal. */
  *#petOf(shop: number, orderId: bigint, petId: bigint | undefined): Read<bigint | "none"> {
    const id = (yield* first(sql.petOfOrder, shop, orderId))?.id;
    return id === undefined || (petId !== undefined && petId !== id) ? "none" : id;
  }

  /** The first of these ids whose event is not before a time; `to` + 1 if all are before it. */
  *#firstSince(shop: number, { from, to }: Ids, time: number): Read<bigint> {
    const found = yield* first(sql.firstSince, from, to, time, shop);
    if (found) return found.id;
    const { first: now } = yield* this.storedRange(shop); // events were deleted after the range was read
    return now > from && now <= to ? yield* this.#firstSince(shop, { from: now, to }, time) : to + 1n;
  }
}

/** The first id that an event after this one can have. */
function idAfter(id: bigint): bigint {
  return id < 0n ? 1n : id + 1n;
}

/** The last id that an event before this one can have; `last` is the newest. */
function idBefore(id: bigint | undefined, last: bigint): bigint {
  return id === undefined || id > last ? last : id - 1n;
}
