import { MAX_DELAYED } from "../contract/simulate.ts";
import type { Clock } from "../timing/clock.ts";

/** A delay that has not ended. */
interface Delay {
  readonly account: string;
  /** When it ends, by the monotonic clock. */
  readonly until: number;
  readonly end: () => void;
}

/**
 * The delays that clients ask for to test themselves. Each account has few of them at once, because a response
 * that is held takes memory.
 */
export class Delays {
  readonly #clock: Clock;
  readonly #running = new Set<Delay>();
  readonly #counts = new Map<string, number>();
  #isStopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Delays that have not ended. */
  get size(): number {
    return this.#running.size;
  }

  /** Begins a delay. What it gives resolves at its end; undefined where the account has the most that it may have. */
  begin(account: string, milliseconds: number): Promise<void> | undefined {
    if (this.#isStopped) return Promise.resolve();
    const count = this.#counts.get(account) ?? 0;
    if (count >= MAX_DELAYED) return undefined;
    this.#counts.set(account, count + 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#running.add({ account, until: this.#clock.monotonic() + milliseconds, end: resolve });
    return promise;
  }

  /** Ends the delays whose time is over. Call it every 100 ms or so. */
  sweep(): void {
    const now = this.#clock.monotonic();
    for (const delay of this.#running) if (delay.until <= now) this.#end(delay);
  }

  /** Ends all delays, and makes later ones end at once. */
  stop(): void {
    this.#isStopped = true;
    for (const delay of this.#running) this.#end(delay);
  }

  #end(delay: Delay): void {
    this.#running.delete(delay);
    const left = (this.#counts.get(delay.account) as number) - 1;
    if (left === 0) this.#counts.delete(delay.account);
    else this.#counts.set(delay.account, left);
    delay.end();
  }
}
