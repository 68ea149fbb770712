import { type ShopNumber, shopNumber } from "../../contract/caller.ts";
import type { StreamSink, StreamSource } from "../../contract/stream.ts";
import type { ChangesOfStore, ReadableStorage } from "../../storage/storage.ts";
import { type Read, waitFor } from "../../storage/transaction.ts";
import { nextTurn } from "../../timing/waiting.ts";
import type { Event } from "./events.schemas.ts";
import { eventsAtOnce, newestEventsOf } from "./events.statements.ts";
import { type EventFilters, type Expired, eventLog, type NotYetStored } from "./events.store.ts";
import { compileEventFilter, type Follower, send, WatchedShop } from "./watched-shop.ts";

/** How often the store is polled for events of other processes, in milliseconds. */
const PERIOD = 200;
/** The least time between two polls after commits of this process, in milliseconds: under load, many commits share one. */
const GAP = 20;
/** Shops that one statement reads. */
const MAX_SHOPS = 1_000;
/** Events in one read for all followers of a shop, if they are small. */
const PAGE = 200;
/** Earlier events in one read for one follower. They stay in memory until its client has taken them. */
const CATCH_UP_PAGE = 8;

/**
 * Sends the events of shops to their followers. It polls all watched shops together, five times a second and after
 * commits of this process. It reads the new events of each shop once for all followers of the shop.
 */
export class EventWatch {
  readonly #storage: ReadableStorage & Pick<ChangesOfStore, "onCommit" | "settled">;
  readonly #failed: (error: unknown) => void;
  readonly #shops = new Map<number, WatchedShop>();
  #timer: Timer | undefined;
  #polledAt = Number.NEGATIVE_INFINITY;
  #isPolling = false;
  /** True if another poll must follow the one in progress. */
  #mustPollAgain = false;
  /** True if a commit has scheduled a poll. */
  #isDue = false;

  /** `failed` is called with errors of the store. The next poll tries again. */
  constructor(
    storage: ReadableStorage & Pick<ChangesOfStore, "onCommit" | "settled">,
    failed: (error: unknown) => void,
  ) {
    this.#storage = storage;
    this.#failed = failed;
    storage.onCommit(() => this.#pollSoon());
  }

  /**
   * The stored events of a shop after `after`, then new ones as they happen. Without `after`: only new ones, or with the
   * filter `since` all stored ones too. Rejects with `StorageUnavailable`.
   */
  *follow(
    shop: ShopNumber,
    after: bigint | undefined,
    filters: EventFilters,
  ): Read<StreamSource<Event> | Expired | NotYetStored> {
    const { first, last } = yield* eventLog.storedRange(shop);
    yield* waitFor(this.#storage.settled()); // what was read may not be on disk yet, and nothing is sent before it is
    const from = after !== undefined && after < 0n ? 0n : after;
    const position = from ?? (filters.since === undefined ? last : first - 1n);
    if (position < first - 1n) return { refused: "expired", first };
    if (position > last) return { refused: "not yet stored", last };
    return { position, start: (sink) => this.#start(shop, last, position, filters, sink) };
  }

  #start(shop: ShopNumber, last: bigint, position: bigint, filters: EventFilters, sink: StreamSink<Event>): () => void {
    const watched = this.#shops.get(shop) ?? new WatchedShop(shop, last);
    this.#shops.set(shop, watched);
    const follower: Follower = { sink, position, wants: compileEventFilter(filters) };
    watched.followers.add(follower);
    this.#timer ??= setInterval(() => void this.#poll(), PERIOD);
    void this.#catchUp(watched, follower, filters);
    return () => {
      watched.leave(follower);
      if (watched.followers.size === 0) this.#shops.delete(shop);
      if (this.#shops.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Sends earlier events, as fast as the client reads them, until the follower is up to date. */
  async #catchUp(watched: WatchedShop, follower: Follower, filters: EventFilters): Promise<void> {
    const { sink } = follower;
    try {
      await sink.drained(); // many large events next to other unread bytes would look like a slow client
      while (sink.isOpen && !watched.join(follower)) {
        await nextTurn(); // the embedded store reads synchronously, and many may catch up at once
        await this.#sendEarlier(watched, follower, filters);
        await sink.drained();
      }
    } catch (error) {
      this.#failed(error);
      sink.end(); // the client reconnects and continues from its position
    }
  }

  /** Sends a page of earlier events. It is apart, so that the page is freed while the client reads. */
  async #sendEarlier({ shop, position: upTo }: WatchedShop, follower: Follower, filters: EventFilters): Promise<void> {
    const page = await this.#storage.read(eventLog.after(shop, follower.position, CATCH_UP_PAGE, filters));
    if ("refused" in page) return follower.sink.end(); // the client learns the reason when it reconnects
    const { items, next = upTo } = page;
    const stored = items.filter(({ id }) => id <= upTo); // later events may not be on disk yet
    send(follower, stored, next < upTo ? next : upTo);
  }

  #pollSoon(): void {
    if (this.#isDue || this.#shops.size === 0) return;
    this.#isDue = true;
    const poll = () => {
      this.#isDue = false;
      void this.#poll();
    };
    const wait = this.#polledAt + GAP - performance.now();
    if (wait <= 0) setImmediate(poll);
    else setTimeout(poll, wait);
  }

  /** Reads the new events of all shops: a page of each in turn, until there are no more. */
  async #poll(): Promise<void> {
    this.#mustPollAgain = this.#isPolling;
    if (this.#isPolling) return;
    this.#isPolling = true;
    this.#polledAt = performance.now();
    try {
      let behind = await this.#behind();
      while (behind.length > 0) {
        const more: WatchedShop[] = [];
        for (const watched of behind) if (await this.#read(watched)) more.push(watched);
        behind = more;
        if (more.length > 0) await new Promise(setImmediate); // gives the event loop time to send
      }
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#isPolling = false;
      if (this.#mustPollAgain) this.#pollSoon();
    }
  }

  /** The shops with events that are not sent yet. Ends the streams of shops that were reset or deleted. */
  async #behind(): Promise<WatchedShop[]> {
    const shops = [...this.#shops.keys()];
    const ended = new Set(shops);
    const behind: WatchedShop[] = [];
    for (let from = 0; from < shops.length; from += MAX_SHOPS) {
      for (const { shop, id } of await this.#storage.read(newestEventsOf(shops.slice(from, from + MAX_SHOPS)))) {
        const watched = this.#shops.get(shopNumber(shop));
        ended.delete(shopNumber(shop));
        if (watched && watched.position < id) behind.push(watched);
      }
    }
    for (const shop of ended) {
      // Clients reconnect to the new shop, in which their position would mean another event.
      for (const { sink } of this.#shops.get(shop)?.followers ?? []) sink.endLog();
    }
    return behind;
  }

  /** Sends a page of new events of a shop. True if there are more. */
  async #read(watched: WatchedShop): Promise<boolean> {
    const { shop, position } = watched;
    const count = await this.#storage.read(eventsAtOnce(shop, position, PAGE));
    const page = await this.#storage.read(eventLog.after(shop, position, count));
    if ("refused" in page) {
      for (const { sink } of watched.followers) sink.end(); // clients learn the reason when they reconnect
      return false;
    }
    await this.#storage.settled(); // as in `follow`
    if (page.items.length > 0) watched.add(page.items);
    return page.next !== undefined;
  }
}
