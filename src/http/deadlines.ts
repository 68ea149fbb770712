import type { Clock } from "../timing/clock.ts";

/** Milliseconds within which every request is answered. */
export const REQUEST_DEADLINE = 10_000;
/** Answers given in one turn of the event loop: thousands that are late together must not stop the others. */
const MOST_AT_ONCE = 100;

/** An answer that is waited for. */
export interface Pending<T> {
  readonly answer: Promise<T>;
  readonly resolve: (answer: T | Promise<T>) => void;
  /** Gives the substitute. */
  readonly expire: () => T | Promise<T>;
  /** When it was registered, by the monotonic clock. */
  readonly since: number;
}

/**
 * Gives answers that do not come in time a substitute. Only what has to wait is registered here, and one
 * timer looks after all of them: a request that is answered at once costs nothing.
 */
export class Deadlines<T> {
  readonly #clock: Clock;
  readonly #milliseconds: number;
  /** In the order in which they were registered, which is that of their deadlines. */
  readonly #pending = new Set<Pending<T>>();

  /** Answers are late after `milliseconds`. */
  constructor(clock: Clock, milliseconds: number = REQUEST_DEADLINE) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
  }

  /** Requests that wait for their answer. */
  get size(): number {
    return this.#pending.size;
  }

  /** Registers an answer that is to be waited for, and is what `expire` gives when it is late. */
  register(expire: () => T | Promise<T>): Pending<T> {
    const { promise, resolve } = Promise.withResolvers<T>();
    const pending: Pending<T> = { answer: promise, resolve, expire, since: this.#clock.monotonic() };
    this.#pending.add(pending);
    return pending;
  }

  /** True until it was late: then the answer has been given, and what comes now is to be dropped. */
  isOpen(pending: Pending<T>): boolean {
    return this.#pending.has(pending);
  }

  /** Settles with the answer, unless its substitute has been given. */
  settle(pending: Pending<T>, answer: T | Promise<T>): void {
    if (this.#pending.delete(pending)) pending.resolve(answer);
  }

  /** Gives substitutes for the answers that are late. Call it every 100 ms or so. */
  sweep(): void {
    const late = this.#clock.monotonic() - this.#milliseconds;
    let left = MOST_AT_ONCE;
    for (const pending of this.#pending) {
      if (pending.since > late) return;
      if (left-- === 0) return void setImmediate(() => this.sweep());
      this.#pending.delete(pending);
      pending.resolve(Promise.try(pending.expire)); // what it throws must not end the process
    }
  }
}
