import { type MaybePromise, whenReady } from "../maybe-promise.ts";
import type { Storage } from "./storage.ts";

/**
 * Values made from rows of the store, kept to be given again: at most `capacity` of them, the oldest
 * going first. What another process writes is noticed before a value is given. What this process
 * writes, its owner has to forget here.
 */
export class Remembered<K, V> {
  readonly #storage: Storage;
  readonly #capacity: number;
  #values = new Map<K, V>();

  constructor(storage: Storage, capacity: number) {
    this.#storage = storage;
    this.#capacity = capacity;
    storage.onForeignWrite(() => this.forgetAll());
  }

  /** The value of a key: remembered, or read now and remembered if it exists and `isLasting` says so. */
  get<R extends V | undefined>(
    key: K,
    read: () => MaybePromise<R>,
    isLasting: (value: V) => boolean = () => true,
  ): MaybePromise<V | R> {
    this.#storage.catchUp();
    const values = this.#values;
    const known = values.get(key);
    if (known !== undefined) return known;
    return whenReady(read(), (value: R) => {
      // A value that was read before something was forgotten goes into a map that nobody looks at.
      if (value !== undefined && isLasting(value)) remember(values, key, value, this.#capacity);
      return value;
    });
  }

  forgetAll(): void {
    this.#values = new Map();
  }
}

function remember<K, V>(values: Map<K, V>, key: K, value: V, capacity: number): void {
  if (values.size >= capacity) {
    const [oldest] = values.keys();
    values.delete(oldest as K);
  }
  values.set(key, value);
}
