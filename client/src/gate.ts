import type { Answer } from "./answer.ts";
import type { Clock } from "./clock.ts";
import { RateLimitError } from "./errors.ts";
import type { RateLimit } from "./response.ts";

/** Requests in flight at once: fewer than bring a ban if all of them come too late. */
const MOST_IN_FLIGHT = 16;
/** How long the limits of a response pass for the present ones, in milliseconds. Others may use the key too. */
const FRESH = 1_000;
/** The part of the limit from which on requests are spread until the reset, and the longest time over which they are. */
const LOW = 0.1;
const LONGEST_SPREAD = 60_000;

interface Waiter {
  readonly deadline: number;
  readonly go: () => void;
  readonly fail: (reason: unknown) => void;
  readonly operation: string;
}

/**
 * Lets the requests of one key through, first come, first served, as its limits allow: a first one to learn them, then
 * as many as remain, the last ones spread over what is left of the window. After a 429 all wait together.
 */
export class Gate {
  readonly #clock: Clock;
  #queue: Waiter[] = [];
  #inFlight = 0;
  #limits: RateLimit | undefined;
  #learntAt = 0;
  #lastAt = 0;
  #closedUntil = 0;
  #closedBy: RateLimitError | undefined;
  #cancelTimer = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when a request may be sent; then `leave` must follow. */
  enter(operation: string, deadline: number, signal: AbortSignal): Promise<void> {
    return new Promise<void>((go, fail) => {
      signal.throwIfAborted();
      const waiter = { deadline, go, fail, operation };
      signal.addEventListener("abort", () => {
        this.#queue = this.#queue.filter((other) => other !== waiter);
        fail(signal.reason);
      });
      this.#queue.push(waiter);
      this.#admit();
    });
  }

  /** A request is over, with an answer or without. After a 429 nothing goes through for as long as it says. */
  leave(answer?: Answer): void {
    const now = this.#clock.now();
    const limits = answer?.info?.rateLimit;
    this.#inFlight--;
    if (answer?.error instanceof RateLimitError) {
      this.#closedUntil = Math.max(this.#closedUntil, now + (answer.error.retryAfter || 1) * 1000);
      this.#closedBy = answer.error;
      this.#limits = undefined;
    } else if (limits) {
      // Responses may overtake each other: of those about one window, the one with the least remaining is the newest.
      const known = this.#limits;
      if (+limits.reset !== +(known?.reset ?? 0) || limits.remaining < (known?.remaining ?? 0)) this.#limits = limits;
      this.#learntAt = now;
    }
    this.#admit();
  }

  #admit(): void {
    this.#cancelTimer();
    const now = this.#clock.now();
    if (now < this.#closedUntil) this.#refuseLate(now);
    for (let [first] = this.#queue; first; [first] = this.#queue) {
      const wait = this.#wait(first.deadline, now);
      if (wait > 0) {
        if (wait < Number.POSITIVE_INFINITY) this.#cancelTimer = this.#clock.after(wait, () => this.#admit());
        return;
      }
      this.#queue.shift();
      this.#inFlight++;
      this.#lastAt = now;
      first.go();
    }
  }

  /** Whoever cannot wait until the gate opens learns so at once. */
  #refuseLate(now: number): void {
    const error = this.#closedBy as RateLimitError;
    this.#queue = this.#queue.filter(({ deadline, fail, operation }) => {
      if (deadline >= this.#closedUntil) return true;
      const retryAfter = Math.ceil((this.#closedUntil - now) / 1000);
      fail(new RateLimitError(error.message, Object.assign({}, error, { operation, retryAfter })));
      return false;
    });
  }

  /** In how many milliseconds the first waiter may go; infinite until a request in flight is over. */
  #wait(deadline: number, now: number): number {
    if (now < this.#closedUntil) return this.#closedUntil - now;
    const { limit = 0, remaining = 0, reset = now } = this.#limits ?? {};
    const isLow = remaining <= limit * LOW;
    // One at a time where little remains, or where it is not known what does.
    const most = isLow || now - this.#learntAt > FRESH ? 1 : Math.min(remaining, MOST_IN_FLIGHT);
    if (this.#inFlight >= most) return Number.POSITIVE_INFINITY;
    const rest = +reset - now;
    if (!isLow || rest <= 0) return 0;
    const wait = !remaining ? rest : rest > LONGEST_SPREAD ? 0 : this.#lastAt + rest / (remaining + 1) - now;
    return now + wait > deadline ? 0 : wait; // a call that cannot wait is sent, and the service decides
  }
}
