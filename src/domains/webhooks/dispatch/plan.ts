import type { Mode, ShopNumber } from "../../../contract/caller.ts";
import type { Event } from "../../events/events.schemas.ts";
import type { StoredEndpoint } from "../endpoints/endpoints.store.ts";
import type { DeliveryKind } from "../webhooks.schemas.ts";
import type { RedeliveryRow } from "./dispatch.statements.ts";

/**
 * How many stored attempts, and how many other events, are ready to begin; with less than half of it, more are read.
 * 24 of the largest events take 200 KB.
 */
const MAX_READY = 24;
/** How many events of an endpoint can have a stored attempt. */
const MAX_ATTEMPTS = 1_000;

/** An endpoint, as seen by the process that delivers to it. */
export interface CourierEndpoint extends StoredEndpoint {
  readonly accountId: string;
  readonly mode: Mode;
  readonly shop: ShopNumber;
  readonly lastEventId: bigint;
  /** Grows with each save and change. What was read of an older version can no longer be saved. */
  readonly version: bigint;
  /** How many events have a stored attempt. */
  readonly attempts: number;
}

/** The id of an endpoint's own cursor. */
export const OWN_CURSOR = 0n;

/** A position in the log that moves on: that of an endpoint, or of a redelivery, which has an end. */
export interface Cursor {
  /** `OWN_CURSOR`, or the id of the redelivery. */
  readonly id: bigint;
  /** The last event that was read. */
  readUpTo: bigint;
  /** The last event that may be read. */
  end: bigint;
  /** The position in the store: all events up to it were delivered, or have a stored attempt. */
  saved: bigint;
}

/** An event to send to an endpoint, or a test. */
export interface PlannedDelivery {
  readonly kind: DeliveryKind;
  /** Below 0 for a test. */
  readonly eventId: bigint;
  readonly event: Event;
  /** The number of the delivery, counted from 1. A redelivery starts at 1 again. */
  readonly attempt: number;
  /** The cursor that has reached the event; undefined if the attempt was stored. */
  readonly cursor: Cursor | undefined;
}

/** What is to be delivered to an endpoint: planned deliveries, and the cursors that have reached their events. */
export class Plan {
  /** The endpoint's own cursor first. */
  readonly cursors = new Map<bigint, Cursor>();
  /** Deliveries that have not begun. Each list is in order. */
  readonly tests: PlannedDelivery[] = [];
  readonly retries: PlannedDelivery[] = [];
  readonly events: PlannedDelivery[] = [];
  /** By event: all whose end is not saved. */
  readonly #planned = new Map<bigint, PlannedDelivery>();
  /** True if there is more than there was room for. */
  hasMoreRetries = false;

  get size(): number {
    return this.#planned.size;
  }

  get needsRetries(): boolean {
    return this.hasMoreRetries && this.retries.length < MAX_READY / 2;
  }

  get needsEvents(): boolean {
    return this.events.length < MAX_READY / 2 && this.cursors.values().some(({ readUpTo, end }) => readUpTo < end);
  }

  get roomForRetries(): number {
    return MAX_READY - this.retries.length;
  }

  /** The oldest event that was not sent yet. */
  get oldest(): Event | undefined {
    return this.#planned.values().find(({ cursor }) => cursor?.id === OWN_CURSOR)?.event;
  }

  /** How many more events can be planned, of which each may fail, while `attempts` are stored. */
  roomForEvents(attempts: number): number {
    const mayFail = this.#planned.values().reduce((sum, { cursor }) => sum + (cursor ? 1 : 0), 0);
    return Math.min(MAX_READY - this.events.length, MAX_ATTEMPTS - attempts - mayFail);
  }

  has(eventId: bigint): boolean {
    return this.#planned.has(eventId);
  }

  add(delivery: PlannedDelivery): void {
    const { kind, eventId, cursor } = delivery;
    this.#planned.set(eventId, delivery);
    (kind === "test" ? this.tests : cursor ? this.events : this.retries).push(delivery);
  }

  /** Adds events that a cursor has reached, up to one that another delivery is in progress for. */
  addEvents(events: readonly Event[], cursor: Cursor, readUpTo: bigint): void {
    cursor.readUpTo = readUpTo < cursor.end ? readUpTo : cursor.end;
    const kind = cursor.id === OWN_CURSOR ? "event" : "redelivery";
    for (const event of events) {
      if (event.id > cursor.end) return;
      if (this.has(event.id)) {
        cursor.readUpTo = event.id - 1n;
        return;
      }
      this.add({ kind, eventId: event.id, event, attempt: 1, cursor });
    }
  }

  updateCursors({ position, lastEventId }: CourierEndpoint, redeliveries: readonly RedeliveryRow[]): void {
    const own = this.cursors.get(OWN_CURSOR);
    if (own) own.end = lastEventId;
    else this.#addCursor(OWN_CURSOR, position, lastEventId);
    for (const { id, position: reached, last_event } of redeliveries) {
      if (!this.cursors.has(id)) this.#addCursor(id, reached, last_event);
    }
  }

  /** Drops the events that have not begun. Tests stay. */
  drop(): void {
    for (const { eventId, cursor } of [...this.retries.splice(0), ...this.events.splice(0)]) {
      this.#planned.delete(eventId);
      if (cursor && eventId <= cursor.readUpTo) cursor.readUpTo = eventId - 1n;
    }
  }

  /** The cursors whose position is not saved, with that position, after these deliveries have ended. */
  moved(ended: ReadonlySet<bigint>): (readonly [Cursor, bigint])[] {
    const positions = new Map([...this.cursors.values()].map((cursor) => [cursor, cursor.readUpTo]));
    for (const { eventId, cursor } of this.#planned.values()) {
      const position = cursor && !ended.has(eventId) ? positions.get(cursor) : undefined;
      if (cursor && position !== undefined && eventId <= position) positions.set(cursor, eventId - 1n);
    }
    return [...positions].filter(([{ saved }, position]) => position !== saved);
  }

  /** Notes that these deliveries and positions are saved. */
  saved(ended: ReadonlySet<bigint>, moved: readonly (readonly [Cursor, bigint])[]): void {
    for (const eventId of ended) this.#planned.delete(eventId);
    for (const [cursor, position] of moved) {
      cursor.saved = position;
      if (cursor.id !== OWN_CURSOR && position >= cursor.end) this.cursors.delete(cursor.id);
    }
  }

  #addCursor(id: bigint, position: bigint, end: bigint): void {
    this.cursors.set(id, { id, readUpTo: position, end, saved: position });
  }
}
