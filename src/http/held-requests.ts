/** Requests that may begin in one turn of the event loop while others are held. It costs little more than all at once. */
const PER_TURN = 32;

/**
 * Requests that wait for a later turn of the event loop, in which few of them begin. So those that are not held wait for
 * few others.
 */
export class HeldRequests {
  readonly #crowd: number;
  readonly #waiting: (() => void)[] = [];
  #isHolding = false;
  /** The connection of the last request in this turn, and how many there were. */
  #connection: string | undefined;
  #connections = 0;

  /** `crowd`: connections with requests in one turn from which on requests are held. */
  constructor(crowd: number) {
    this.#crowd = crowd;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /**
   * The turn in which the request may begin; undefined for this one. Requests of few connections are never held: a
   * request that must wait costs its connection all that was pipelined after it.
   */
  hold(from: { readonly connection: string }): Promise<void> | undefined {
    if (!this.#isHolding || this.#connections < PER_TURN) {
      const { connection } = from; // a system call
      if (connection === this.#connection) return undefined;
      this.#connection = connection;
      this.#connections++;
      this.#isHolding ||= this.#connections > this.#crowd;
      if (!this.#isHolding || this.#connections <= PER_TURN) return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    return promise;
  }

  /** Begins the next turn with those that have waited longest. */
  nextTurn(): void {
    const released = this.#waiting.splice(0, PER_TURN);
    this.#isHolding = this.#waiting.length > 0;
    this.#connection = undefined;
    this.#connections = released.length;
    for (const release of released) release();
  }
}
