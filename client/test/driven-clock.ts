import type { ManualClock } from "../../test/harness/manual-clock.ts";
import type { Clock } from "../src/index.ts";

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** Lets clients use the clock of a test service. It advances to their next timer when no request is in flight. */
export class DrivenClock implements Clock {
  readonly #clock: ManualClock;
  readonly #timers = new Set<Timer>();
  #inFlight = 0;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  after(milliseconds: number, run: () => void): () => void {
    const timer = { at: this.now() + milliseconds, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Sends a request. No time passes until its response has arrived. */
  readonly fetch = async (...request: Parameters<typeof fetch>): Promise<Response> => {
    this.#inFlight++;
    try {
      const response = await fetch(...request);
      const told = new Response(await response.arrayBuffer(), response);
      told.headers.set("Date", new Date(this.now()).toUTCString()); // the server's own is the real time
      return told;
    } finally {
      this.#inFlight--;
    }
  };

  /** Lets time pass until the calls are over. */
  async drive<T>(calls: Promise<T>): Promise<T> {
    const state = { isOver: false };
    const over = calls.finally(() => (state.isOver = true));
    over.catch(() => {});
    while (!state.isOver) {
      await this.#idle();
      const [next] = [...this.#timers].toSorted((one, other) => one.at - other.at);
      if (state.isOver || !next) continue;
      this.#clock.advance(Math.max(0, next.at - this.now()));
      this.#timers.delete(next);
      next.run();
    }
    return over;
  }

  /** Resolves when no request is in flight, nor about to be sent. */
  async #idle(): Promise<void> {
    for (let quiet = 0; quiet < 5; quiet = this.#inFlight === 0 ? quiet + 1 : 0) {
      await new Promise((done) => setImmediate(done));
    }
  }
}
