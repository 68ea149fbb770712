import type { MaybePromise } from "../timing/maybe-promise.ts";
import { type Turns, turns as turnsOfProcess } from "../timing/turns.ts";

/** The load that a process accepts. */
export interface LoadLimits {
  /** How many requests may wait. While half as many do, a shop may have a quarter of this number. */
  readonly maxWaiting: number;
  /**
   * How long a refusal waits, in milliseconds. It costs as much as a quick response, and many clients send again at once.
   */
  readonly refusesAfterMs: number;
}

/** The costliest requests take 3 ms, so the last of a thousand that wait begins long before its deadline. */
export const loadLimits: LoadLimits = { maxWaiting: 2_048, refusesAfterMs: 500 };

/**
 * Protects shops from others that send more than the process can answer. It puts off requests of shops that have used
 * their share of the event loop (`Turns`), and refuses requests while too many wait: for the store, for the limiter, or
 * because they were put off.
 */
export class LoadShedder {
  readonly #limits: LoadLimits;
  readonly #turns: Turns;
  /** Requests that wait, by shop. All requests without a valid key count as one shop. */
  readonly #waitingOf = new Map<number | undefined, number>();
  #waiting = 0;

  constructor(limits: LoadLimits = loadLimits, turns: Turns = turnsOfProcess) {
    this.#limits = limits;
    this.#turns = turns;
  }

  /** Requests that wait for the store or the limiter, or were put off. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Returns true if a request must be refused; otherwise it may begin. The result may come later. */
  refuses(shop: number | undefined): MaybePromise<boolean> {
    const { maxWaiting, refusesAfterMs } = this.#limits;
    const isRefused =
      this.#waiting >= maxWaiting ||
      (this.#waiting >= maxWaiting / 2 && (this.#waitingOf.get(shop) ?? 0) >= maxWaiting / 4);
    if (isRefused) return Bun.sleep(refusesAfterMs).then(() => true);
    return this.putOff(shop)?.then(() => false) ?? false;
  }

  /** Puts off a request whose shop has used its share; undefined if it may go on. */
  putOff(shop: number | undefined): Promise<void> | undefined {
    const turn = this.#turns.turn(shop);
    if (!turn) return undefined;
    this.wait(shop);
    return turn.then(() => this.endWait(shop));
  }

  /** Counts a request that waits. */
  wait(shop: number | undefined): void {
    this.#waiting++;
    this.#waitingOf.set(shop, (this.#waitingOf.get(shop) ?? 0) + 1);
  }

  /** The request no longer waits. */
  endWait(shop: number | undefined): void {
    this.#waiting--;
    const left = (this.#waitingOf.get(shop) ?? 0) - 1;
    if (left === 0) this.#waitingOf.delete(shop);
    else this.#waitingOf.set(shop, left);
  }
}
