import type { ShopNumber } from "../../contract/caller.ts";
import type { StreamSink } from "../../contract/stream.ts";
import type { Event } from "./events.schemas.ts";
import type { EventFilters } from "./events.store.ts";

/** Events stored in memory for followers that are slightly behind. */
const MAX_RECENT = 128;

/** A stream that follows a shop. */
export interface Follower {
  readonly sink: StreamSink<Event>;
  /** Which events it wants; if undefined, all. */
  readonly wants: ((event: Event) => boolean) | undefined;
  /** The id of the last event that was sent, or skipped because it is not wanted. */
  position: bigint;
}

/** A shop that is followed. Events are added to it in order, without gaps, once they are on disk. */
export class WatchedShop {
  readonly shop: ShopNumber;
  readonly followers = new Set<Follower>();
  /** Followers that have all events up to `position`. */
  readonly #current = new Set<Follower>();
  #position: bigint;
  #recent: readonly Event[] = [];

  /** `position` is the id of an event that is on disk. The shop sends only events after it. */
  constructor(shop: ShopNumber, position: bigint) {
    this.shop = shop;
    this.#position = position;
  }

  /** The next event that `add` sends is the one after this id. */
  get position(): bigint {
    return this.#position;
  }

  /** Sends the next events, at least one, to all followers that are up to date. */
  add(events: readonly Event[]): void {
    this.#position = (events.at(-1) as Event).id;
    this.#recent = [...this.#recent, ...events].slice(-MAX_RECENT);
    for (const follower of this.#current) send(follower, events, this.#position);
  }

  /**
   * If no older events must be read for the follower first, sends it all events from now on, and returns true. Otherwise
   * does nothing and returns false.
   */
  join(follower: Follower): boolean {
    const { position } = follower;
    const missed = this.#recent.filter(({ id }) => id > position);
    if (position < this.#position && missed[0]?.id !== position + 1n) return false;
    send(follower, missed, this.#position);
    this.#current.add(follower);
    return true;
  }

  leave(follower: Follower): void {
    this.followers.delete(follower);
    this.#current.delete(follower);
  }
}

/** Sends a follower those of the events up to `upTo` that it wants and does not have yet. */
export function send(follower: Follower, events: readonly Event[], upTo: bigint): void {
  const { sink, wants, position } = follower;
  if (position >= upTo) return;
  const isNew = (events[0]?.id ?? upTo) > position;
  const sent = isNew && !wants ? events : events.filter((event) => event.id > position && (wants?.(event) ?? true));
  follower.position = upTo;
  // If all are sent, pass on the same array: it is then serialized once for all followers.
  sink.send(sent.length === events.length ? events : sent);
  sink.skipTo(upTo);
}

/** A test with the same result as the filters of the log; undefined if every event passes. */
export function compileEventFilter(filters: EventFilters): ((event: Event) => boolean) | undefined {
  const { type, hidden, of, since, until } = filters;
  const conditions: ((event: Event) => boolean)[] = [];
  if (type) conditions.push((event) => type.includes(event.type));
  if (hidden) conditions.push((event) => !hidden.has(event.type));
  for (const { filter, id } of of ?? []) conditions.push((event) => filter.passes(event, String(id)));
  if (since !== undefined) conditions.push(({ at }) => Date.parse(at) >= since);
  if (until !== undefined) conditions.push(({ at }) => Date.parse(at) < until);
  return conditions.length === 0 ? undefined : (event) => conditions.every((holds) => holds(event));
}
