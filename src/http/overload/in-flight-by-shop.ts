/** The requests of one shop. */
interface InFlight {
  /** Requests that wait for the store or the limiter, or are queued. */
  held: number;
  /** Requests that began in this turn of the event loop. */
  begun: number;
}

/**
 * The number of requests in flight by shop. Shops have their internal numbers; `undefined` stands for all requests without
 * a valid key.
 */
export class InFlightByShop {
  readonly #shops = new Map<number | undefined, InFlight>();
  #total = 0;
  /** The number of requests of all shops that began in this turn. */
  #begun = 0;

  /** The number of requests of all shops. */
  get total(): number {
    return this.#total;
  }

  /** The number of shops with requests. */
  get size(): number {
    return this.#shops.size;
  }

  begin(shop: number | undefined): void {
    this.#of(shop).begun++;
    this.#begun++;
    this.#total++;
  }

  hold(shop: number | undefined): void {
    this.#of(shop).held++;
    this.#total++;
  }

  release(shop: number | undefined): void {
    const inFlight = this.#of(shop);
    inFlight.held--;
    this.#total--;
    if (inFlight.held + inFlight.begun === 0) this.#shops.delete(shop);
  }

  /** Ends a turn of the event loop: requests that began in it have ended or are held. */
  endTurn(): void {
    if (this.#begun === 0) return;
    this.#total -= this.#begun;
    this.#begun = 0;
    for (const [shop, inFlight] of this.#shops) {
      inFlight.begun = 0;
      if (inFlight.held === 0) this.#shops.delete(shop);
    }
  }

  /** True if the shop has at least `requests` divided by the number of shops. With `total`, that is the average. */
  hasEqualShareOf(requests: number, shop: number | undefined): boolean {
    const inFlight = this.#shops.get(shop);
    return inFlight !== undefined && (inFlight.held + inFlight.begun) * this.#shops.size >= requests;
  }

  #of(shop: number | undefined): InFlight {
    const known = this.#shops.get(shop);
    if (known) return known;
    const added = { held: 0, begun: 0 };
    this.#shops.set(shop, added);
    return added;
  }
}
