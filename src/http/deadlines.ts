import { RESPONSE_TIMEOUT } from "../contract/request-limits.ts";
import type { Clock } from "../timing/clock.ts";

/** The maximum number of responses replaced in one turn of the event loop. Thousands at once would delay others. */
const MAX_AT_ONCE = 100;

/** A pending response. */
export interface PendingResponse<T> {
  readonly response: Promise<T>;
  readonly resolve: (response: T | Promise<T>) => void;
  /** Returns the response that replaces a late one. */
  readonly expire: () => T | Promise<T>;
  /** When it was registered, by the monotonic clock. */
  readonly since: number;
}

/**
 * Replaces late responses with an error. Only requests that must wait are registered, and one timer
 * checks all of them, so a request that is served immediately costs nothing.
 */
export class Deadlines<T> {
  readonly #clock: Clock;
  readonly #milliseconds: number;
  /** In order of registration, which is also the order of their deadlines. */
  readonly #pending = new Set<PendingResponse<T>>();

  /** Responses are late after `milliseconds`. */
  constructor(clock: Clock, milliseconds: number = RESPONSE_TIMEOUT) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
  }

  /** The number of pending responses. */
  get size(): number {
    return this.#pending.size;
  }

  /** Registers a pending response. If it is late, the result of `expire` replaces it. */
  register(expire: () => T | Promise<T>): PendingResponse<T> {
    const { promise, resolve } = Promise.withResolvers<T>();
    const pending: PendingResponse<T> = { response: promise, resolve, expire, since: this.#clock.monotonic() };
    this.#pending.add(pending);
    return pending;
  }

  /** True until it is late. A result that arrives later is dropped. */
  isOpen(pending: PendingResponse<T>): boolean {
    return this.#pending.has(pending);
  }

  /** Settles with the response, unless it was late. */
  settle(pending: PendingResponse<T>, response: T | Promise<T>): void {
    if (this.#pending.delete(pending)) pending.resolve(response);
  }

  /** Replaces late responses. Call it every 100 ms or so. */
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
