import { isFailure } from "../../../contract/errors.ts";
import { timestampOf } from "../../../contract/schemas.ts";
import type { ReadableStorage } from "../../../storage/storage.ts";
import { turns } from "../../../timing/turns.ts";
import { nextTurn } from "../../../timing/waiting.ts";
import { eventLog } from "../../events/events.store.ts";
import { failuresAfter, MAX_FAILED } from "../endpoints/endpoint-health.ts";
import { testEvent } from "../sending/message.ts";
import { ALL_TYPES } from "../webhooks.schemas.ts";
import { type Delivery, type DeliveryParts, deliver } from "./delivery.ts";
import type { AttemptRow, EndpointName } from "./dispatch.statements.ts";
import { type DispatchStore, isWaiting } from "./dispatch.store.ts";
import { type CourierEndpoint, type Cursor, Plan, type PlannedDelivery } from "./plan.ts";
import type { Slots } from "./slots.ts";

/** How many stored attempts can be in progress while other events are ready. */
const MAX_RETRIES = 16;

/** What all couriers of a process share. */
export interface CourierParts extends DeliveryParts {
  readonly storage: ReadableStorage;
  readonly store: DispatchStore;
  readonly slots: Slots;
  /** False if another process may have become the one that delivers. */
  readonly leads: () => boolean;
  /** Called after each delivery. */
  readonly deliveryEnded: (hasFailed: boolean) => void;
  readonly disabled: (endpoint: CourierEndpoint) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Delivers to one endpoint what there is to do for it. Events are read in the turns of its shop: several endpoints may look
 * through many large ones. What has ended is saved together, and only then more is read: so what is read is never older
 * than what is known here. After a crash, all after the oldest unfinished event is sent again.
 */
export class Courier {
  readonly name: EndpointName;
  readonly #parts: CourierParts;
  /** As it was read last; undefined before. */
  #endpoint: CourierEndpoint | undefined;
  readonly #plan = new Plan();
  readonly #inProgress = new Map<PlannedDelivery, AbortController>();
  /** Those that have ended, in this order. */
  #ended: Delivery[] = [];
  /** True if the endpoint must be read, because it may have been changed. */
  #isStale = true;
  /** The store has failed: nothing begins until the next round. */
  #storeFailed = false;
  /** What is in memory no longer holds: the endpoint was changed or deleted, or another process delivers to it. */
  #isOver = false;
  #signal = Promise.withResolvers<void>();

  constructor(name: EndpointName, parts: CourierParts) {
    this.name = name;
    this.#parts = parts;
  }

  /** When the oldest event occurred that was not sent yet; undefined if there is none. */
  get oldestEventAt(): string | undefined {
    return this.#isHeld ? undefined : this.#plan.oldest?.at;
  }

  /** Delivers until there is nothing more to do now. Never rejects. */
  async run(): Promise<void> {
    while (!this.#isOver) {
      this.#signal = Promise.withResolvers();
      let mustGoOn = false;
      try {
        await this.#save();
        mustGoOn = await this.#read();
      } catch (error) {
        this.#parts.failed(error);
        this.#storeFailed = true;
      }
      this.#begin();
      const waitsForStore = this.#storeFailed && this.#ended.length > 0 && this.#parts.leads();
      if (mustGoOn) {
        await nextTurn(); // the embedded store reads synchronously
      } else if (this.#inProgress.size > 0 || waitsForStore) {
        await this.#signal.promise;
      } else if (this.#storeFailed || !this.#hasWork) return;
    }
    for (const cancel of this.#inProgress.values()) cancel.abort();
  }

  /** Reads the endpoint again soon, because it may have been changed. */
  refresh(): void {
    this.#isStale = true;
    this.#storeFailed = false;
    this.#signal.resolve();
  }

  /**
   * Aborts all deliveries of events, and tests if another process will send them. An event that has begun gets a stored
   * attempt, so that the cursors can pass it.
   */
  interrupt(): void {
    const dueAt = this.#parts.clock.now();
    for (const [{ event, ...one }, cancel] of this.#inProgress) {
      const isTest = one.kind === "test";
      if (cancel.signal.aborted || (isTest && this.#parts.leads())) continue;
      cancel.abort();
      if (isTest) continue; // its stored attempt remains
      const next = { attempt: one.attempt, dueAt };
      this.#ended.push({ ...one, type: event.type, isProbe: false, sent: undefined, next });
    }
    this.#plan.drop();
    this.#signal.resolve();
  }

  /** True while no event may be sent. */
  get #isHeld(): boolean {
    const { state, health } = this.#endpoint ?? {};
    return state !== "enabled" || !health || isWaiting(health, this.#parts.clock.now());
  }

  get #hasWork(): boolean {
    return (this.#isStale && this.#parts.leads()) || this.#unsaved !== undefined;
  }

  /** Reads what there is to do. True if it must go on at once, because a search has found little so far. */
  async #read(): Promise<boolean> {
    const isNeeded = this.#isStale || this.#plan.needsRetries || (!this.#isHeld && this.#plan.needsEvents);
    if (!isNeeded || this.#storeFailed || this.#isOver || !this.#parts.leads()) return false;
    this.#isStale = false;
    const work = await this.#parts.store.work(this.name, this.#plan.size + this.#plan.roomForRetries + 1);
    const known = this.#endpoint;
    if (!work || (known && (work.endpoint.version !== known.version || work.endpoint.shop !== known.shop))) {
      this.#isOver = true;
      return false;
    }
    this.#endpoint = work.endpoint;
    if (work.endpoint.state !== "enabled") this.interrupt();
    await this.#planAttempts(work.endpoint, work.due);
    if (this.#isHeld) return false;
    this.#plan.updateCursors(work.endpoint, work.redeliveries);
    let isSearching = false;
    for (const cursor of this.#plan.cursors.values()) {
      isSearching = (await this.#readLog(cursor, work.endpoint)) || isSearching;
    }
    return isSearching && this.#plan.needsEvents;
  }

  async #planAttempts({ shop, id }: CourierEndpoint, due: readonly AttemptRow[]): Promise<void> {
    const { storage, clock } = this.#parts;
    const fresh = due.filter(({ event_id }) => !this.#plan.has(event_id));
    const rows = fresh.slice(0, this.#plan.roomForRetries);
    this.#plan.hasMoreRetries = rows.length < fresh.length;
    const test = testEvent(id, timestampOf(clock.now()));
    const events = await Promise.all(
      rows.map(async ({ event_id }) =>
        event_id < 0n ? test : turns.run(shop, () => storage.read(eventLog.get(shop, event_id), shop)),
      ),
    );
    for (const [index, { event_id: eventId, kind, attempt: number }] of rows.entries()) {
      const event = events[index];
      const one = { kind, eventId, attempt: Number(number), cursor: undefined };
      if (event && !isFailure(event)) this.#plan.add({ ...one, event });
      else this.#ended.push({ ...one, type: "", isProbe: false, sent: undefined, next: undefined }); // it was deleted
    }
  }

  /** Reads the next page of the log, up to `end`: later events may not be on disk yet. True if the search goes on. */
  async #readLog(cursor: Cursor, { shop, types, attempts }: CourierEndpoint): Promise<boolean> {
    const { storage } = this.#parts;
    const { readUpTo, end } = cursor;
    const room = this.#plan.roomForEvents(attempts);
    if (room <= 0 || readUpTo >= end) return false;
    const type = types.includes(ALL_TYPES) ? undefined : types;
    const page = await turns.run(shop, () => storage.read(eventLog.after(shop, readUpTo, room, { type }), shop));
    if (cursor.readUpTo !== readUpTo) return false; // it was interrupted
    const [events, next = end] = "refused" in page ? [[], page.first - 1n] : [page.items, page.next];
    this.#plan.addEvents(events, cursor, next);
    return cursor.readUpTo > readUpTo && cursor.readUpTo < end;
  }

  /** Begins all deliveries that can begin now. */
  #begin(): void {
    const { leads, slots } = this.#parts;
    while (this.#endpoint && !this.#isOver && !this.#storeFailed && leads()) {
      const list = this.#nextList(this.#endpoint);
      if (!list || !slots.take(this.#endpoint.accountId, this.#inProgress.size)) return;
      void this.#deliver(list.shift() as PlannedDelivery, this.#endpoint);
    }
  }

  /** The list whose first delivery can begin now. A failing endpoint gets one probe at a time. */
  #nextList({ health }: CourierEndpoint): PlannedDelivery[] | undefined {
    const { tests, retries, events } = this.#plan;
    if (tests.length > 0) return tests;
    if (this.#isHeld) return undefined;
    const begun = [...this.#inProgress.keys()].filter(({ kind }) => kind !== "test");
    const failures = this.#ended.reduce(
      (sum, { kind, sent, attempt }) =>
        sent && kind !== "test" ? failuresAfter(sum, attempt, sent.result.failure !== undefined) : sum,
      health.failures,
    );
    const isFailing = health.waitsUntil !== null || failures >= MAX_FAILED;
    if (isFailing && (begun.length > 0 || this.#ended.length > 0)) return undefined;
    const retrying = begun.filter(({ cursor }) => !cursor).length;
    if (retries.length > 0 && (retrying < MAX_RETRIES || events.length === 0)) return retries;
    return events.length > 0 ? events : undefined;
  }

  async #deliver(planned: PlannedDelivery, endpoint: CourierEndpoint): Promise<void> {
    const cancel = new AbortController();
    this.#inProgress.set(planned, cancel);
    try {
      const isProbe = endpoint.health.waitsUntil !== null;
      const delivery = await deliver(planned, isProbe, endpoint, this.#parts, cancel.signal);
      if (!this.#isOver && !cancel.signal.aborted) {
        this.#parts.deliveryEnded(delivery.sent.result.failure !== undefined);
        this.#ended.push(delivery);
      }
    } catch (error) {
      this.#parts.failed(error);
      this.#isOver = true; // the next courier starts from the store
    }
    this.#inProgress.delete(planned);
    this.#parts.slots.free(endpoint.accountId);
    this.#begin();
    this.#signal.resolve();
  }

  /** What must be saved; undefined for nothing. */
  get #unsaved() {
    const ended = [...this.#ended];
    const ids = new Set(ended.map(({ eventId }) => eventId));
    const moved = this.#plan.moved(ids);
    return ended.length > 0 || moved.length > 0 ? { ended, ids, moved } : undefined;
  }

  async #save(): Promise<void> {
    const { store, disabled } = this.#parts;
    const [endpoint, unsaved] = [this.#endpoint, this.#unsaved];
    if (!endpoint || !unsaved || this.#storeFailed) return;
    const { ended, ids, moved } = unsaved;
    const saved = await store.save(endpoint, ended, moved);
    if (!saved) {
      this.#isOver = true;
      return;
    }
    const { mustDisable, ...progress } = saved;
    this.#endpoint = { ...endpoint, ...progress };
    this.#ended = this.#ended.slice(ended.length); // others have ended in the meantime
    this.#plan.saved(ids, moved);
    if (!mustDisable) return;
    if (await store.disable(endpoint, saved.version)) disabled(endpoint);
    this.#isOver = true;
  }
}
