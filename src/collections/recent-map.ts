/**
 * A map that keeps the most recently used entries: at least half of `capacity`, at most `capacity`.
 *
 * It consists of two maps. New and used entries go into the young map. When that holds half of the capacity, it becomes
 * the old map, and the previous old map is dropped. Evicting single entries would be slower: finding the first entry of
 * a map takes longer the more entries before it were deleted.
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

  /** The number of entries. Entries that were copied from the old map to the young one count twice. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }
}
