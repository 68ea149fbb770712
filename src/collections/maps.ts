import { modes, type ShopName } from "../contract/caller.ts";

/** The values of one mode by account. */
interface ValuesOfMode<V> {
  readonly size: number;
  get(accountId: string): V | undefined;
  set(accountId: string, value: V): unknown;
  delete(accountId: string): unknown;
}

/** Values by shop. A look-up does not build a combined key from account and mode. */
export class ShopMap<V, M extends ValuesOfMode<V> = Map<string, V>> {
  readonly #live: M;
  readonly #test: M;

  /** `make` creates an empty map for one mode. */
  constructor(make: () => M) {
    this.#live = make();
    this.#test = make();
  }

  /** The values of the shops of one mode, by account. */
  of({ mode }: Pick<ShopName, "mode">): M {
    return mode === "live" ? this.#live : this.#test;
  }

  get(shop: ShopName): V | undefined {
    return this.of(shop).get(shop.accountId);
  }

  set(shop: ShopName, value: V): void {
    this.of(shop).set(shop.accountId, value);
  }

  delete(shop: ShopName): void {
    this.of(shop).delete(shop.accountId);
  }

  /** Deletes both shops of an account. */
  deleteAccount(accountId: string): void {
    this.#live.delete(accountId);
    this.#test.delete(accountId);
  }

  get size(): number {
    return this.#live.size + this.#test.size;
  }
}

/** The entries of such a map, live shops first. */
export function* entriesOf<V>(map: ShopMap<V>): Generator<[ShopName, V]> {
  for (const mode of modes) for (const [accountId, value] of map.of({ mode })) yield [{ accountId, mode }, value];
}

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
