/** A shop by its internal number. All requests without a valid key are one: `undefined`. */
export type Party = number | undefined;

/** Requests of one shop. */
interface InHand {
  /** Those that wait: for the store, or until they may begin. */
  waiting: number;
  /** Those that began in this turn of the event loop. */
  begun: number;
}

/** How many requests each shop has in hand. */
export class ShopsInHand {
  readonly #shops = new Map<Party, InHand>();
  #total = 0;

  /** Requests of all shops. */
  get total(): number {
    return this.#total;
  }

  /** Shops that have any. */
  get size(): number {
    return this.#shops.size;
  }

  begin(shop: Party): void {
    this.#of(shop).begun++;
    this.#total++;
  }

  wait(shop: Party): void {
    this.#of(shop).waiting++;
    this.#total++;
  }

  endWait(shop: Party): void {
    const inHand = this.#of(shop);
    inHand.waiting--;
    this.#total--;
    if (inHand.waiting + inHand.begun === 0) this.#shops.delete(shop);
  }

  /** What began in this turn of the event loop has ended, or waits. */
  endTurn(): void {
    for (const [shop, inHand] of this.#shops) {
      this.#total -= inHand.begun;
      inHand.begun = 0;
      if (inHand.waiting === 0) this.#shops.delete(shop);
    }
  }

  /** True if the shop has at least its share of so many requests: the shops that have some get equal parts. */
  hasShareOf(requests: number, shop: Party): boolean {
    const { waiting, begun } = this.#of(shop);
    return (waiting + begun) * this.#shops.size >= requests;
  }

  #of(shop: Party): InHand {
    const known = this.#shops.get(shop);
    if (known) return known;
    const added = { waiting: 0, begun: 0 };
    this.#shops.set(shop, added);
    return added;
  }
}
