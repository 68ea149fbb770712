import { MAX_DELAYED } from "../../contract/requests.ts";
import type { Clock } from "../../timing/clock.ts";

/** A delay that has not ended. */
interface Delay {
  readonly account: string;
  /** When it ends, by the monotonic clock. */
  readonly until: number;
  readonly end: () => void;
}

/**
 * The delays that clients request for their tests. Their number per account is limited, because a delayed response
 * occupies memory.
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

  /** Starts a delay and resolves when it ends. Returns undefined if the account has reached its limit. */
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

  /** Ends all delays. Later ones end immediately. */
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
