import type { Clock } from "../clock.ts";

/** Milliseconds within which every request is answered. */
export const REQUEST_DEADLINE = 10_000;
/** Answers given in one turn of the event loop: thousands that are late together must not stop the others. */
const MOST_AT_ONCE = 100;

interface Pending<T> {
  readonly since: number;
  readonly resolve: (answer: T | Promise<T>) => void;
  readonly expire: () => T | Promise<T>;
}

/**
 * Gives answers that do not come in time a substitute. Only what has to wait is entered here, and one
 * timer looks after all of them: a request that is answered at once costs nothing.
 */
export class Deadlines<T> {
  readonly #clock: Clock;
  /** In the order in which they were entered, which is that of their deadlines. */
  readonly #pending = new Set<Pending<T>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Requests that wait for their answer. */
  get size(): number {
    return this.#pending.size;
  }

  /** The answer, or what `expire` gives when it is late. The answer has to be one that never rejects. */
  limit(answer: Promise<T>, expire: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve) => {
      const pending: Pending<T> = { since: this.#clock.monotonic(), resolve, expire };
      this.#pending.add(pending);
      void answer.then((given) => {
        this.#pending.delete(pending);
        resolve(given);
      });
    });
  }

  /** Gives substitutes for the answers that are late. Has to be called every now and then. */
  look(): void {
    const late = this.#clock.monotonic() - REQUEST_DEADLINE;
    let left = MOST_AT_ONCE;
    for (const pending of this.#pending) {
      if (pending.since > late) return;
      if (left-- === 0) return void setImmediate(() => this.look());
      this.#pending.delete(pending);
      pending.resolve(pending.expire());
    }
  }
}
