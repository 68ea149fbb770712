import type { Event } from "../../events/events.schemas.ts";

/** How many events are read ahead, so that one that must wait does not delay those after it. */
const MAX_PENDING = 200;

/** The part of a log between the events that are finished and those that are not read yet. */
export class EventWindow {
  /** The last event that was read. */
  #readUpTo: bigint;
  /** Events that were read and not started, by ascending id. */
  #pending: Event[] = [];
  /** Events that were started and are not finished. */
  readonly #begun = new Map<bigint, Event>();
  /** The last event that was started. Events before it may still wait for the previous one of their sequence. */
  #lastBegun = 0n;

  constructor(position: bigint) {
    this.#readUpTo = position;
  }

  get readUpTo(): bigint {
    return this.#readUpTo;
  }

  /** All events up to this id are finished. */
  get position(): bigint {
    const { oldest } = this;
    return oldest === undefined ? this.#readUpTo : oldest.id - 1n;
  }

  /** The oldest event that is not finished; undefined if there is none. */
  get oldest(): Event | undefined {
    let [oldest] = this.#pending;
    for (const event of this.#begun.values()) if (oldest === undefined || event.id < oldest.id) oldest = event;
    return oldest;
  }

  get begun(): number {
    return this.#begun.size;
  }

  /** The unfinished events, by ascending id, after which others may already be finished. */
  get overtaken(): readonly Event[] {
    const skipped = this.#pending.filter(({ id }) => id < this.#lastBegun);
    return [...this.#begun.values(), ...skipped].toSorted((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** How many more events there is room for. */
  get room(): number {
    return MAX_PENDING - this.#pending.length;
  }

  /** Adds the next events of the log; `upTo` is the last id that was read, which a filter may have skipped. */
  add(events: readonly Event[], upTo: bigint): void {
    this.#pending.push(...events);
    this.#readUpTo = upTo;
  }

  /** Starts the first event that `canBegin` accepts. */
  begin(canBegin: (event: Event) => boolean): Event | undefined {
    const index = this.#pending.findIndex(canBegin);
    if (index < 0) return undefined;
    const [event] = this.#pending.splice(index, 1) as [Event];
    this.#begun.set(event.id, event);
    if (event.id > this.#lastBegun) this.#lastBegun = event.id;
    return event;
  }

  /** Forgets a started event: it is finished or parked. Does nothing for another event. */
  finish(id: bigint): void {
    this.#begun.delete(id);
  }

  /** Removes events that were not started and are handled elsewhere. */
  drop(isHandledElsewhere: (event: Event) => boolean): void {
    this.#pending = this.#pending.filter((event) => !isHandledElsewhere(event));
  }
}
