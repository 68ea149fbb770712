import type { Event } from "../../events/events.schemas.ts";
import { type Health, withoutFailures } from "../endpoints/endpoint-health.ts";
import type { CourierEndpoint, Parked, StoredDelivery, UnsavedProgress } from "./dispatch.store.ts";
import { EventWindow } from "./event-window.ts";
import type { RedeliveryProgress } from "./redelivery-progress.ts";
import { sequenceOf } from "./sequences.ts";

/** How many sequences of an endpoint can wait for a retry. */
const MAX_PARKED = 1_000;

/** The progress of the deliveries of an endpoint, and which part of it is not saved yet. */
export class EndpointProgress {
  health: Health;
  readonly window: EventWindow;
  readonly parked: Map<string, Parked>;
  readonly redeliveries = new Map<bigint, RedeliveryProgress>();
  #lastDeliveryId: bigint;
  #deliveries: StoredDelivery[] = [];
  readonly #changed = new Set<string>();
  /** The position in the store. Undefined if the row must be saved even if the position has not changed. */
  #savedPosition: bigint | undefined;

  /** Starts with the first event if the sandbox was reset. */
  constructor(endpoint: CourierEndpoint, parked: Map<string, Parked>) {
    const { health, position, lastDeliveryId, dueAt, isOfOldShop } = endpoint;
    this.health = isOfOldShop ? withoutFailures(health) : health;
    this.window = new EventWindow(isOfOldShop ? 0n : position);
    this.parked = isOfOldShop ? new Map() : parked;
    this.#lastDeliveryId = lastDeliveryId;
    this.#savedPosition = isOfOldShop || dueAt !== this.#dueAt ? undefined : position;
  }

  get isFull(): boolean {
    return this.parked.size >= MAX_PARKED;
  }

  /** True if another event may be sent: if it fails, there is room to park its sequence. */
  get hasRoom(): boolean {
    const begun = this.redeliveries.values().reduce((sum, { window }) => sum + window.begun, this.window.begun);
    return this.parked.size + begun < MAX_PARKED;
  }

  get isDirty(): boolean {
    return (
      this.#deliveries.length > 0 ||
      this.#changed.size > 0 ||
      this.window.position !== this.#savedPosition ||
      this.redeliveries.values().some((one) => one.isFinished || one.window.position !== one.saved)
    );
  }

  /** Records a delivery, and returns its id. */
  record(delivery: Omit<StoredDelivery, "id">): bigint {
    this.#deliveries.push({ id: ++this.#lastDeliveryId, ...delivery });
    return this.#lastDeliveryId;
  }

  /** Adds events that were read, except those of parked sequences: they are read from the log again later. */
  add(events: readonly Event[], upTo: bigint): void {
    const free = events.filter((event) => !this.parked.has(sequenceOf(event)));
    this.window.add(free, upTo);
  }

  park(sequence: string, parked: Parked): void {
    this.parked.set(sequence, parked);
    this.#changed.add(sequence);
    this.window.drop((event) => sequenceOf(event) === sequence);
  }

  unpark(sequence: string): void {
    this.parked.delete(sequence);
    this.#changed.add(sequence);
  }

  /**
   * Parks the sequences of overtaken events. Otherwise the next process, which continues at the position, would send
   * again what came after them.
   */
  parkOvertaken(dueAt: number): void {
    for (const event of this.window.overtaken) {
      const sequence = sequenceOf(event);
      this.window.finish(event.id);
      if (!this.parked.has(sequence)) this.park(sequence, { eventId: event.id, attempts: 0, dueAt });
    }
  }

  /** Makes everything that is parked due at this time. */
  makeDue(at: number): void {
    for (const [sequence, parked] of this.parked) {
      if (parked.dueAt > at) this.park(sequence, { ...parked, dueAt: at });
    }
  }

  /** Ends the waiting of an endpoint whose time is up and that has no message to send as a probe. */
  endWait(): void {
    if (this.parked.size > 0 || this.window.oldest !== undefined) return;
    this.health = { ...this.health, retriesAt: null };
    this.#savedPosition = undefined;
  }

  /**
   * Takes what is not saved yet. Then `markSaved` must be called with it, or `giveBack` if the store failed; neither if
   * the save was refused, because the courier has then ended.
   */
  take(): UnsavedProgress {
    const { health, parked } = this;
    const redeliveries = this.redeliveries
      .values()
      .filter((one) => one.isFinished || one.window.position !== one.saved);
    const progress: UnsavedProgress = {
      position: this.window.position,
      lastDeliveryId: this.#lastDeliveryId,
      isBlocked: health.retriesAt !== null || this.isFull,
      dueAt: this.#dueAt,
      health,
      deliveries: this.#deliveries,
      parked: [...this.#changed].map((sequence) => [sequence, parked.get(sequence)]),
      redeliveries: [...redeliveries].map((one) => [one.row.id, one.isFinished ? undefined : one.window.position + 1n]),
    };
    this.#deliveries = [];
    this.#changed.clear();
    this.#savedPosition = progress.position;
    return progress;
  }

  /** Records which progress of redeliveries is saved, and removes those whose end is saved. */
  markSaved({ redeliveries }: UnsavedProgress): void {
    for (const [id, next] of redeliveries) {
      const redelivery = this.redeliveries.get(id);
      if (next === undefined) this.redeliveries.delete(id);
      else if (redelivery) redelivery.saved = next - 1n;
    }
  }

  /** Makes what could not be saved unsaved again. */
  giveBack({ deliveries, parked }: UnsavedProgress): void {
    this.#deliveries = [...deliveries, ...this.#deliveries];
    for (const [sequence] of parked) this.#changed.add(sequence);
    this.#savedPosition = undefined;
  }

  get #dueAt(): number | undefined {
    if (this.health.retriesAt !== null) return this.health.retriesAt;
    const times = this.parked.values().map(({ dueAt }) => dueAt);
    return times.reduce<number | undefined>((first, dueAt) => Math.min(first ?? dueAt, dueAt), undefined);
  }
}
