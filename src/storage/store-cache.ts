import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import { RecentMap } from "./recent-map.ts";
import type { Storage } from "./storage.ts";

/** Keys of which it is known that they were asked for once. */
const ASKED = 40_000;

/** The values of one shop. */
interface ShopValues<V> {
  readonly values: Map<string, V>;
  bytes: number;
  /** True if one was given since the shop was last spared. */
  isUsed: boolean;
}

/** Which values are kept, and what of the memory each takes. */
export interface Keeping<V> {
  /** Bytes of all values together. */
  readonly capacity: number;
  /** Bytes of the values of one shop, so that one that reads very much leaves the values of others alone. */
  readonly shopCapacity: number;
  /** About how many bytes a value takes. */
  readonly sizeOf: (value: V) => number;
  readonly isLasting: (value: V) => boolean;
}

/**
 * Values made from rows of shops, kept to be given again: those that were asked for twice. A walk through everything
 * asks once for each, and so fills no memory. What another process writes is noticed before a value is given; what this
 * process writes, its owner must forget. Of a store that does not notice every write nothing is kept, but those who ask in
 * one turn of the event loop share a value.
 */
export class StoreCache<V extends object> {
  readonly #storage: Storage;
  readonly #keeping: Keeping<V>;
  /** Those at the front are forgotten first. */
  #shops = new Map<number, ShopValues<V>>();
  #bytes = 0;
  #timesForgotten = 0;
  readonly #asked = new RecentMap<string, true>(ASKED);
  /** Reads that begin when this turn of the event loop has ended, and its end. */
  readonly #coming = new Map<string, Promise<V>>();
  #turnEnd: Promise<void> | undefined;

  constructor(storage: Storage, keeping: Keeping<V>) {
    this.#storage = storage;
    this.#keeping = keeping;
    storage.onForeignWrite(() => this.forgetAll());
  }

  /** The value of a shop's key: remembered, or read now, and remembered if it lasts. */
  get(shop: number, key: string, read: () => MaybePromise<V>): MaybePromise<V> {
    if (!this.#storage.noticesEveryWrite) return this.#readTogether(`${shop} ${key}`, read);
    if (!this.#storage.catchUp()) return read();
    const known = this.#shops.get(shop);
    const value = known?.values.get(key);
    if (known && value) {
      known.isUsed = true;
      return value;
    }
    const asked = `${shop} ${key}`;
    if (this.#asked.get(asked) === undefined) {
      this.#asked.set(asked, true);
      return read();
    }
    const before = this.#timesForgotten;
    return whenReady(read(), (found) => {
      // A value that was read before something was forgotten is not kept.
      if (this.#timesForgotten === before && this.#keeping.isLasting(found)) this.#keep(shop, key, found);
      return found;
    });
  }

  /** Forgets the values of a shop. What a transaction that changes rows of which they are made wants done after its commit. */
  forget(shop: number): void {
    this.#timesForgotten++;
    this.#drop(shop);
  }

  forgetAll(): void {
    this.#timesForgotten++;
    this.#shops = new Map();
    this.#bytes = 0;
  }

  /** Bytes that are in use, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** One read for all who ask in this turn. It begins after the turn, so it finds all that was written before any of them asked. */
  #readTogether(name: string, read: () => MaybePromise<V>): Promise<V> {
    let coming = this.#coming.get(name);
    if (!coming) {
      this.#turnEnd ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        this.#coming.clear();
        this.#turnEnd = undefined;
      });
      coming = this.#turnEnd.then(read);
      this.#coming.set(name, coming);
    }
    return coming;
  }

  #drop(shop: number): void {
    this.#bytes -= this.#shops.get(shop)?.bytes ?? 0;
    this.#shops.delete(shop);
  }

  #open(shop: number): ShopValues<V> {
    const opened = { values: new Map<string, V>(), bytes: 0, isUsed: false };
    this.#shops.set(shop, opened);
    return opened;
  }

  #keep(shop: number, key: string, value: V): void {
    const { capacity, shopCapacity, sizeOf } = this.#keeping;
    const size = sizeOf(value);
    const into = this.#shops.get(shop) ?? this.#open(shop);
    if (into.bytes + size > shopCapacity) {
      this.#bytes -= into.bytes;
      into.values.clear();
      into.bytes = 0;
    }
    for (const [first, { isUsed }] of this.#shops) {
      if (this.#bytes + size <= capacity) break;
      if (first === shop) continue;
      if (isUsed) this.#spare(first);
      else this.#drop(first);
    }
    into.values.set(key, value);
    into.bytes += size;
    this.#bytes += size;
  }

  /** Puts a shop behind the others once more. */
  #spare(shop: number): void {
    const spared = this.#shops.get(shop);
    if (!spared) return;
    this.#shops.delete(shop);
    this.#shops.set(shop, spared);
    spared.isUsed = false;
  }
}
