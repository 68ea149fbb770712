import type { Page } from "../../storage/page.ts";
import { type Condition, pageQuery, scannedPage } from "../../storage/page-query.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Event } from "./events.schemas.ts";
import {
  byId,
  columns,
  type EventRow,
  firstSince,
  petOfOrder,
  type StoredRange,
  smallColumns,
  storedRange,
  toEvent,
  toStoredRange,
} from "./events.statements.ts";

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

/** Reads the logs of shops. All methods reject with `StorageUnavailable`. */
export class EventLog {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** One event. */
  async get(shop: number, id: bigint): Promise<Event | "not found" | Expired> {
    const row = await this.#storage.first(byId, shop, id);
    if (row) return toEvent(row);
    const { first, last } = await this.storedRange(shop);
    return id >= 1n && id < first && id <= last ? { refused: "expired", first } : "not found";
  }

  /** The ids of the stored events. */
  async storedRange(shop: number): Promise<StoredRange> {
    return toStoredRange(await this.#storage.first(storedRange, shop));
  }

  /**
   * Up to `limit` events after `afterId`, the oldest first. If it has not read all, `next` is the last id that it has
   * read: a page may have fewer than `limit` events, although more follow.
   */
  async after(
    shop: number,
    afterId: bigint,
    limit: number,
    filters: EventFilters = {},
  ): Promise<Page<Event> | Expired> {
    const page = await this.between(shop, afterId, undefined, limit, filters, "id");
    return "refused" in page && page.refused !== "expired" ? { items: [] } : page;
  }

  /** Like `after`, but from the first stored event on. */
  async first(shop: number, limit: number, filters: EventFilters = {}): Promise<Page<Event>> {
    const { first, last } = await this.storedRange(shop);
    return this.#page(shop, { from: first, to: last }, limit, filters, "id");
  }

  /**
   * Up to `limit` events, the newest first: before `beforeId` or, if it is absent, from the newest one on. `next` is as in
   * `after`.
   */
  async before(
    shop: number,
    beforeId: bigint | undefined,
    limit: number,
    filters: EventFilters = {},
  ): Promise<Page<Event>> {
    const { first, last } = await this.storedRange(shop);
    return this.#page(shop, { from: first, to: idBefore(beforeId, last) }, limit, filters, "-id");
  }

  /** Like `after` or, with `-id`, like `before`, but only events after `afterId`, which must exist or have existed. */
  async between(
    shop: number,
    afterId: bigint,
    beforeId: bigint | undefined,
    limit: number,
    filters: EventFilters,
    sort: "id" | "-id",
  ): Promise<Page<Event> | Expired | NotYetStored> {
    const { first, last } = await this.storedRange(shop);
    const from = idAfter(afterId);
    if (from < first) return { refused: "expired", first };
    if (afterId > last) return { refused: "not yet stored", last };
    const page = await this.#page(shop, { from, to: idBefore(beforeId, last) }, limit, filters, sort);
    if (from > last || page.items.some(({ id }) => id === from)) return page;
    const now = await this.storedRange(shop); // events may have been deleted before the page was read
    return from < now.first ? { refused: "expired", first: now.first } : page;
  }

  async #page(shop: number, ids: Ids, limit: number, filters: EventFilters, sort: "id" | "-id"): Promise<Page<Event>> {
    const { orderId, since, until, hidden } = filters;
    const types = filters.type?.filter((type) => !hidden?.has(type));
    const petId = orderId === undefined ? filters.petId : await this.#petOf(shop, orderId, filters.petId);
    if (petId === "none" || types?.length === 0 || ids.from > ids.to) return { items: [] };
    const from = since === undefined ? ids.from : await this.#firstSince(shop, ids, since);
    const to = until === undefined ? ids.to : (await this.#firstSince(shop, ids, until)) - 1n;
    const conditions: Condition[] = [];
    if (types) conditions.push((bind) => `type IN (${types.map(bind).join(", ")})`);
    // It is null if the animal itself changed.
    if (orderId !== undefined) conditions.push((bind) => `subject = ${bind(String(orderId))}`);
    const read = async (scanned: readonly Condition[]) => {
      const { statement, parameters } = pageQuery<EventRow>({
        table: "events",
        columns,
        shop,
        after: sort === "id" ? from - 1n : to + 1n,
        limit: limit + 1,
        sort,
        lead: petId === undefined ? undefined : { column: "pet_id", value: petId },
        bounds: [(bind) => (sort === "id" ? `id <= ${bind(to)}` : `id >= ${bind(from)}`)],
        scanned,
        scannedColumns: smallColumns,
      });
      return scannedPage(await this.#storage.all(statement, ...parameters), limit, toEvent);
    };
    const page = await read(conditions);
    // Hidden events are rare, and most pages have none: a condition would triple the time of every page.
    if (!hidden || !page.items.some(({ type }) => hidden.has(type))) return page;
    return read([...conditions, (bind) => `type NOT IN (${[...hidden].map(bind).join(", ")})`]);
  }

  /** The animal of an order, which never changes; `none` if there is no such order, or it is for another animal. */
  async #petOf(shop: number, orderId: bigint, petId: bigint | undefined): Promise<bigint | "none"> {
    const id = (await this.#storage.first(petOfOrder, shop, orderId))?.id;
    return id === undefined || (petId !== undefined && petId !== id) ? "none" : id;
  }

  /** The first of these ids whose event is not before a time; `to` + 1 if all are before it. */
  async #firstSince(shop: number, { from, to }: Ids, time: number): Promise<bigint> {
    const found = await this.#storage.first(firstSince, from, to, time, shop);
    if (found) return found.id;
    const { first } = await this.storedRange(shop); // events were deleted after the range was read
    return first > from && first <= to ? this.#firstSince(shop, { from: first, to }, time) : to + 1n;
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
