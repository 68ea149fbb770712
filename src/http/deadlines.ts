import { RESPONSE_TIMEOUT } from "../contract/request-limits.ts";
import type { Clock } from "../timing/clock.ts";

/** The maximum number of results replaced in one turn of the event loop. Thousands at once would delay others. */
const MAX_AT_ONCE = 100;

/** A result that is not known yet, such as the response to a request that waits for the store. */
export interface PendingResult<T> {
  readonly result: Promise<T>;
  readonly resolve: (result: T | Promise<T>) => void;
  /** Returns the result that replaces a late one. */
  readonly expire: () => T | Promise<T>;
  /** When it was registered, by the monotonic clock. */
  readonly since: number;
}

/**
 * Replaces late results. Only work that must wait is registered, and one timer checks all of it, so a request that is
 * served immediately costs nothing.
 */
export class Deadlines<T> {
  readonly #clock: Clock;
  readonly #milliseconds: number;
  /** In order of registration, which is also the order of their deadlines. */
  readonly #pending = new Set<PendingResult<T>>();

  /** Results are late after `milliseconds`. */
  constructor(clock: Clock, milliseconds: number = RESPONSE_TIMEOUT) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
  }

  /** The number of pending results. */
  get size(): number {
    return this.#pending.size;
  }

  /** Registers a pending result. If it is late, that of `expire` replaces it. */
  register(expire: () => T | Promise<T>): PendingResult<T> {
    const { promise, resolve } = Promise.withResolvers<T>();
    const pending: PendingResult<T> = { result: promise, resolve, expire, since: this.#clock.monotonic() };
    this.#pending.add(pending);
    return pending;
  }

  /** True until the result is settled or late. A result that arrives later is dropped. */
  isOpen(pending: PendingResult<T>): boolean {
    return this.#pending.has(pending);
  }

  /** Settles a pending result, unless it was late. */
  settle(pending: PendingResult<T>, result: T | Promise<T>): void {
    if (this.#pending.delete(pending)) pending.resolve(result);
  }

  /** Replaces late results. Call it every 100 ms or so. */
  sweep(): void {
    const late = this.#clock.monotonic() - this.#milliseconds;
    let left = MAX_AT_ONCE;
    for (const pending of this.#pending) {
      if (pending.since > late) return;
      if (left-- === 0) return void setImmediate(() => this.sweep());
      this.#pending.delete(pending);
      pending.resolve(Promise.try(pending.expire)); // an error must not end the process
    }
  }
}
