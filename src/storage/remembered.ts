import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import { RecentMap } from "./recent-map.ts";
import type { Storage } from "./storage.ts";

/**
 * Values made from rows of the store, kept to be given again: at most `capacity` of those that were
 * asked for twice lately. A walk through everything asks once for each, and so fills no memory. What
 * another process writes is noticed before a value is given; what this process writes, its owner has
 * to forget.
 */
export class Remembered<K, V> {
  readonly #storage: Storage;
  readonly #capacity: number;
  #values: RecentMap<K, V>;
  readonly #asked: RecentMap<K, true>;

  constructor(storage: Storage, capacity: number) {
    this.#storage = storage;
    this.#capacity = capacity;
    this.#values = new RecentMap(capacity);
    this.#asked = new RecentMap(capacity);
    storage.onForeignWrite(() => this.forgetAll());
  }

  /** The value of a key: remembered, or read now and remembered if it exists and `isLasting` says so. */
  get<R extends V | undefined>(
    key: K,
    read: () => MaybePromise<R>,
    isLasting: (value: V) => boolean = () => true,
  ): MaybePromise<V | R> {
    if (!this.#storage.noticesEveryWrite) return read();
    if (!this.#storage.catchUp()) return read();
    const values = this.#values;
    const known = values.get(key);
    if (known !== undefined) return known;
    if (this.#asked.get(key) === undefined) {
      this.#asked.set(key, true);
      return read();
    }
    return whenReady(read(), (value: R) => {
      // A value that was read before something was forgotten goes into a map that nobody looks at.
      if (value !== undefined && isLasting(value)) values.set(key, value);
      return value;
    });
  }

  /**
   * Forgets all values. What a transaction that changes rows of which values are made wants done after its commit.
   */
  forgetAll(): void {
    this.#values = new RecentMap(this.#capacity);
  }
}
