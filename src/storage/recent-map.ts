/**
 * A map that keeps the entries used lately: at least half of `capacity`, never more than `capacity`.
 *
 * It is made of two maps. New and used entries go into the young one; when that holds half of the
 * capacity, it becomes the old one, and what was in the old one is forgotten. So entries are not pushed out
 * one by one, which would cost more with each entry that was deleted before it.
 */
export class RecentMap<K, V> {
  readonly #half: number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  constructor(capacity: number) {
    this.#half = Math.ceil(capacity / 2);
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: K, value: V): void {
    if (this.#young.size >= this.#half) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  delete(key: K): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /** Entries held, those counted twice that moved from the old map to the young one. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }
}
