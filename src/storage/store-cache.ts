import { RecentTexts } from "../collections/recent-texts.ts";
import type { Storage } from "./storage.ts";
import { type Transaction, waitFor } from "./transaction.ts";

/** The values of one shop. */
interface ShopValues<V> {
  readonly values: Map<string, V>;
  bytes: number;
  /** True if a value was used since the shop last moved to the end of the eviction order. */
  isUsed: boolean;
}

/** Which values are cached, and how much memory they take. */
export interface CachePolicy<V> {
  /** The maximum size of all values, in bytes. */
  readonly capacity: number;
  /** The maximum size of one shop's values, in bytes, so that one busy shop does not evict the values of others. */
  readonly shopCapacity: number;
  /** The approximate size of a value in bytes. */
  readonly sizeOf: (value: V) => number;
  /** False for a value that must not be cached. */
  readonly isCacheable: (value: V) => boolean;
}

/**
 * A cache of values made from rows of shops. A value is cached from its second request on, so reading a whole list once
 * does not fill the memory. Before the cache returns a value, it drops all values if another process has written. For
 * writes of this process, the writer must call `forget`. If the store does not notice every write, nothing is cached,
 * but requests for the same key in one turn of the event loop share one read.
 */
export class StoreCache<V extends object> {
  readonly #storage: Storage;
  readonly #policy: CachePolicy<V>;
  /** In eviction order. */
  #shops = new Map<number, ShopValues<V>>();
  #bytes = 0;
  #timesForgotten = 0;
  readonly #requested = new RecentTexts();
  /** The reads that start at the end of this turn of the event loop. */
  #nextReads = new Map<string, Promise<V>>();
  #turnEnd: Promise<void> | undefined;

  constructor(storage: Storage, policy: CachePolicy<V>) {
    this.#storage = storage;
    this.#policy = policy;
    storage.onOtherProcessChange(() => this.forgetAll());
  }

  /** Returns the cached value of a shop's key, or reads it and caches it if `isCacheable`. */
  *get(shop: number, key: string, read: () => Transaction<V>): Transaction<V> {
    if (!this.#storage.noticesEveryWrite) return yield* waitFor(this.#readTogether(`${shop} ${key}`, read));
    if (!this.#storage.catchUp()) return yield* read();
    const known = this.#shops.get(shop);
    const value = known?.values.get(key);
    if (known && value) {
      known.isUsed = true;
      return value;
    }
    if (!this.#requested.note(`${shop} ${key}`)) return yield* read();
    const before = this.#timesForgotten;
    const found = yield* read();
    // If something was forgotten during the read, the value may be stale.
    if (this.#timesForgotten === before && this.#policy.isCacheable(found)) this.#keep(shop, key, found);
    return found;
  }

  /** Forgets the values of a shop. A transaction that changes their rows calls it in `afterCommit`. */
  forget(shop: number): void {
    this.#timesForgotten++;
    this.#drop(shop);
  }

  forgetAll(): void {
    this.#timesForgotten++;
    this.#shops = new Map();
    this.#bytes = 0;
  }

  /** The approximate size of all cached values in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Shares one read among all requests of this turn. The read starts after the turn, so it sees everything written
   * before any of the requests.
   */
  #readTogether(name: string, read: () => Transaction<V>): Promise<V> {
    let reading = this.#nextReads.get(name);
    if (!reading) {
      this.#turnEnd ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        // Not `clear`: a map keeps cleared entries alive until the next full garbage collection.
        this.#nextReads = new Map();
        this.#turnEnd = undefined;
      });
      reading = this.#turnEnd.then(() => this.#storage.read(read()));
      this.#nextReads.set(name, reading);
    }
    return reading;
  }

  #drop(shop: number): void {
    this.#bytes -= this.#shops.get(shop)?.bytes ?? 0;
    this.#shops.delete(shop);
  }

  #addShop(shop: number): ShopValues<V> {
    const added = { values: new Map<string, V>(), bytes: 0, isUsed: false };
    this.#shops.set(shop, added);
    return added;
  }

  #keep(shop: number, key: string, value: V): void {
    const { capacity, shopCapacity, sizeOf } = this.#policy;
    const size = sizeOf(value);
    const into = this.#shops.get(shop) ?? this.#addShop(shop);
    if (into.values.has(key)) return; // by a read at the same time
    if (into.bytes + size > shopCapacity) {
      this.#bytes -= into.bytes;
      into.values.clear();
      into.bytes = 0;
    }
    for (const [first, { isUsed }] of this.#shops) {
      if (this.#bytes + size <= capacity) break;
      if (first === shop) continue;
      if (isUsed) this.#moveToEnd(first);
      else this.#drop(first);
    }
    into.values.set(key, value);
    into.bytes += size;
    this.#bytes += size;
  }

  /** Moves a shop to the end of the eviction order. */
  #moveToEnd(shop: number): void {
    const moved = this.#shops.get(shop);
    if (!moved) return;
    this.#shops.delete(shop);
    this.#shops.set(shop, moved);
    moved.isUsed = false;
  }
}
