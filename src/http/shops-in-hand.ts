/** The internal number of a shop. `undefined` stands for all requests without a valid key. */
export type Party = number | undefined;

/** The requests of one shop. */
interface InHand {
  /** Requests that wait for the store or are held. */
  waiting: number;
  /** Requests that began in this turn of the event loop. */
  begun: number;
}

/** The number of requests in flight by shop. */
export class ShopsInHand {
  readonly #shops = new Map<Party, InHand>();
  #total = 0;

  /** The number of requests of all shops. */
  get total(): number {
    return this.#total;
  }

  /** The number of shops with requests. */
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

  /** Ends a turn of the event loop: requests that began in it have ended or are waiting. */
  endTurn(): void {
    for (const [shop, inHand] of this.#shops) {
      this.#total -= inHand.begun;
      inHand.begun = 0;
      if (inHand.waiting === 0) this.#shops.delete(shop);
    }
  }

  /** True if the shop has at least its share of this many requests. All shops with requests have equal shares. */
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
