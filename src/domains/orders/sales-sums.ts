import { PAGE_BYTES } from "../../contract/paging.ts";
import { exactJson } from "../../contract/serialize.ts";
import { pause, type Read } from "../../storage/transaction.ts";
import { MAX_ENTRIES, type SalesFigures } from "./sales.operations.ts";

/** Orders with the same currency; null without a price. */
interface Added {
  readonly orders: bigint;
  readonly amount: bigint | null;
  readonly currency: string | null;
}

/** How many entries of a list are sorted at once. */
const SORTED = 1_000;
/** The shortest text of the sums in one currency, in bytes. */
const SHORTEST_AMOUNT = 48;

/** What was sold and returned. */
export class Sums {
  readonly counts = { sold: 0, returned: 0 };
  readonly #amounts = new Map<string, { sold: number; returned: number }>();

  add(kind: keyof Sums["counts"], { orders, amount, currency }: Added): void {
    this.counts[kind] += Number(orders);
    if (currency !== null) this.#in(currency)[kind] += Number(amount);
  }

  addAll(other: Sums): void {
    this.counts.sold += other.counts.sold;
    this.counts.returned += other.counts.returned;
    for (const [currency, { sold, returned }] of other.#amounts) {
      const amounts = this.#in(currency);
      amounts.sold += sold;
      amounts.returned += returned;
    }
  }

  /** False if a sum is too large to be exact. */
  get isExact(): boolean {
    return this.#amounts.values().every((one) => Math.max(one.sold, one.returned) <= Number.MAX_SAFE_INTEGER);
  }

  /** The number of currencies. */
  get currencies(): number {
    return this.#amounts.size;
  }

  get figures(): SalesFigures {
    const amounts = [...this.#amounts]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([currency, { sold, returned }]) => ({ currency, sold, returned, net: sold - returned }));
    return { ...this.counts, amounts };
  }

  #in(currency: string): { sold: number; returned: number } {
    return this.#amounts.getOrInsertComputed(currency, () => ({ sold: 0, returned: 0 }));
  }
}

/** The sums of one of several. */
export function sumsOf<K>(by: Map<K, Sums>, key: K): Sums {
  return by.getOrInsertComputed(key, () => new Sums());
}

/** Sums in the order of their size: those that sold most first, and then in the order of their keys. */
export class Ranking<K extends string | bigint, T extends object> {
  readonly largest: [K, Sums][] = [];
  readonly #nameOf: (key: K) => T;
  readonly #others = new Sums();
  #left = 0;

  private constructor(nameOf: (key: K) => T) {
    this.#nameOf = nameOf;
  }

  /** Part of a read: the ranking of as many as a response may name. `nameOf` gives the fields that tell what one is. */
  static *of<K extends string | bigint, T extends object>(
    by: ReadonlyMap<K, Sums>,
    nameOf: (key: K) => T,
  ): Read<Ranking<K, T>> {
    const ranking = new Ranking(nameOf);
    const entries = [...by];
    for (let done = 0; done < entries.length; done += SORTED) {
      if (done > 0) yield* pause();
      ranking.largest.push(...entries.slice(done, done + SORTED));
      ranking.largest.sort(([one, a], [other, b]) => b.counts.sold - a.counts.sold || (one < other ? -1 : 1));
      ranking.keep(MAX_ENTRIES);
    }
    return ranking;
  }

  /** Counts all entries after the first ones to the others. */
  keep(most: number): void {
    for (const [, sums] of this.largest.splice(most)) {
      this.#others.addAll(sums);
      this.#left++;
    }
  }

  /** The size of an entry, in bytes; 0 if there is none. */
  bytesOf(rank: number): number {
    const entry = this.largest[rank];
    return entry ? bytesOf(this.#shown(entry)) : 0;
  }

  /** What a response shows: the largest, and the sum of the others if there are any. */
  get entries(): ((T | { other: number }) & SalesFigures)[] {
    const others = this.#left > 0 ? [{ other: this.#left, ...this.#others.figures }] : [];
    return [...this.largest.map((entry) => this.#shown(entry)), ...others];
  }

  #shown([key, { figures }]: [K, Sums]): T & SalesFigures {
    return { ...this.#nameOf(key), ...figures };
  }
}

/** Leaves as many of the largest entries of both as have at most so many bytes together. */
export function fit(one: Ranking<string, object>, other: Ranking<bigint, object>, bytes: number): void {
  let left = bytes;
  for (let rank = 0; rank < Math.max(one.largest.length, other.largest.length); rank++) {
    left -= one.bytesOf(rank) + other.bytesOf(rank);
    if (left >= 0) continue;
    one.keep(rank);
    other.keep(rank);
  }
}

/** False if these figures alone are surely larger than a response may be. */
export function fitsAnyhow(all: Iterable<Sums>): boolean {
  return [...all].reduce((sum, { currencies }) => sum + currencies, 0) * SHORTEST_AMOUNT <= PAGE_BYTES;
}

/** The size of a value in a response, in bytes. */
export function bytesOf(value: unknown): number {
  return Buffer.byteLength(exactJson(value)) + 1;
}
