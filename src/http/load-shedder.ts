import type { Clock } from "../timing/clock.ts";
import type { MaybePromise } from "../timing/maybe-promise.ts";

/** The load that a process accepts. */
export interface LoadLimits {
  /** How many requests may wait. While half as many do, a shop may have a quarter of this number. */
  readonly maxWaiting: number;
  /** For how long all requests may begin in one turn of the event loop, in milliseconds. */
  readonly maxTurnMs: number;
  /** How many requests of each shop may begin in a turn in any case, unless as many of its requests wait. */
  readonly few: number;
  /** How many of the requests that were put off begin in each turn. */
  readonly perTurn: number;
  /**
   * How long a refusal waits, in milliseconds. It costs as much as a quick response, and many clients send again at once.
   */
  readonly refusesAfterMs: number;
}

/**
 * The costliest requests take 3 ms, so the last of a thousand that wait begins long before its deadline. If 32 began in
 * each turn, requests of other shops would take twice as long.
 */
export const loadLimits: LoadLimits = {
  maxWaiting: 2_048,
  maxTurnMs: 10,
  few: 64,
  perTurn: 8,
  refusesAfterMs: 500,
};

/** Numbers of requests by shop. Shops have their internal numbers; all requests without a valid key count as one. */
class Counts {
  readonly #byShop = new Map<number | undefined, number>();

  of(shop: number | undefined): number {
    return this.#byShop.get(shop) ?? 0;
  }

  add(shop: number | undefined, change: number): void {
    const count = this.of(shop) + change;
    if (count === 0) this.#byShop.delete(shop);
    else this.#byShop.set(shop, count);
  }

  clear(): void {
    this.#byShop.clear();
  }
}

/**
 * Protects shops from others that send more than the process can answer. It refuses requests while too many wait: for
 * the store, for the limiter, or because they were put off.
 *
 * Once a turn of the event loop is too long, requests of busy shops are put off, in order, and a few of them begin in each
 * turn until none is left. Otherwise the loop would keep reading while many connections have data, and commits, timers,
 * health checks and other shops would wait.
 */
export class LoadShedder {
  readonly #clock: Clock;
  readonly #limits: LoadLimits;
  readonly #waitingOf = new Counts();
  #waiting = 0;
  /** When the first request of this turn began; undefined before. */
  #turnStart: number | undefined;
  /** Let the requests that were put off begin. */
  readonly #putOff: (() => void)[] = [];
  /** What has begun in this turn while it was too long, or while others were put off. */
  readonly #begun = new Counts();

  constructor(clock: Clock, limits: LoadLimits = loadLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Requests that wait for the store or the limiter, or were put off. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Returns true if a request must be refused; otherwise it may begin. The result may come later. */
  refuses(shop: number | undefined): MaybePromise<boolean> {
    const { maxWaiting, few, refusesAfterMs } = this.#limits;
    const ofShop = this.#waitingOf.of(shop);
    const isRefused = this.#waiting >= maxWaiting || (this.#waiting >= maxWaiting / 2 && ofShop >= maxWaiting / 4);
    if (isRefused) return Bun.sleep(refusesAfterMs).then(() => true);
    if (!this.#isTurnTooLong() && this.#putOff.length === 0) return false;
    if (ofShop + this.#begun.of(shop) >= few) return this.#beginLater(shop);
    this.#begun.add(shop, 1);
    return false;
  }

  /** Counts a request that waits. */
  wait(shop: number | undefined): void {
    this.#waiting++;
    this.#waitingOf.add(shop, 1);
  }

  /** The request no longer waits. */
  endWait(shop: number | undefined): void {
    this.#waiting--;
    this.#waitingOf.add(shop, -1);
  }

  async #beginLater(shop: number | undefined): Promise<false> {
    this.wait(shop);
    await new Promise<void>((begin) => this.#putOff.push(begin));
    this.endWait(shop);
    return false;
  }

  /** The first call in a turn also begins it. */
  #isTurnTooLong(): boolean {
    const now = this.#clock.monotonic();
    if (this.#turnStart === undefined) {
      this.#turnStart = now;
      setImmediate(this.#endTurn);
    }
    return now - this.#turnStart > this.#limits.maxTurnMs;
  }

  readonly #endTurn = (): void => {
    this.#turnStart = undefined;
    this.#begun.clear();
    for (const begin of this.#putOff.splice(0, this.#limits.perTurn)) begin();
    if (this.#putOff.length > 0) this.#isTurnTooLong(); // those that are left need another turn
  };
}
