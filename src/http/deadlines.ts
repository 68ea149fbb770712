import { RESPONSE_TIMEOUT } from "../contract/requests.ts";
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
  /** True until it is settled or late. */
  isOpen: boolean;
  /** Its neighbours among the open ones. */
  previous: PendingResult<T> | undefined;
  next: PendingResult<T> | undefined;
}

/**
 * Replaces late results. Only work that must wait is registered, and one timer checks all of it, so a request that is
 * served immediately costs nothing.
 */
export class Deadlines<T> {
  readonly #clock: Clock;
  readonly #milliseconds: number;
  /**
   * The ends of the list of open results, in order of registration, which is also the order of their deadlines. It is no
   * `Set`: where entries come and go, a `Set` keeps deleted ones alive until the next full garbage collection, and with
   * them requests that have ended.
   */
  #first: PendingResult<T> | undefined;
  #last: PendingResult<T> | undefined;
  #size = 0;

  /** Results are late after `milliseconds`. */
  constructor(clock: Clock, milliseconds: number = RESPONSE_TIMEOUT) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
  }

  /** The number of pending results. */
  get size(): number {
    return this.#size;
  }

  /** Registers a pending result. If it is late, that of `expire` replaces it. */
  register(expire: () => T | Promise<T>): PendingResult<T> {
    const { promise, resolve } = Promise.withResolvers<T>();
    const since = this.#clock.monotonic();
    const previous = this.#last;
    const pending = { result: promise, resolve, expire, since, isOpen: true, previous, next: undefined };
    if (previous) previous.next = pending;
    else this.#first = pending;
    this.#last = pending;
    this.#size++;
    return pending;
  }

  /** Settles a pending result, unless it was late. */
  settle(pending: PendingResult<T>, result: T | Promise<T>): void {
    if (this.#close(pending)) pending.resolve(result);
  }

  /** Replaces late results. Call it every 100 ms or so. */
  sweep(): void {
    const late = this.#clock.monotonic() - this.#milliseconds;
    let left = MAX_AT_ONCE;
    for (let first = this.#first; first && first.since <= late; first = this.#first) {
      if (left-- === 0) return void setImmediate(() => this.sweep());
      this.#close(first);
      first.resolve(Promise.try(first.expire)); // an error must not end the process
    }
  }

  /** Returns false if the result was settled or late. A result that arrives later is dropped. */
  #close(pending: PendingResult<T>): boolean {
    if (!pending.isOpen) return false;
    const { previous, next } = pending;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    pending.isOpen = false;
    pending.previous = undefined;
    pending.next = undefined;
    this.#size--;
    return true;
  }
}
