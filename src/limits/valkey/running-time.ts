/** Time between two ticks, in milliseconds. */
const TICK = 10;
/** A tick that comes later than this after the one before was held up by this process, not by the server. */
const ON_TIME = 2 * TICK;
/** What a tick counts that came late: little, but enough that a process that is always busy judges too. */
const LATE_TICK = 1;

/**
 * Measures how long somebody else has taken, in milliseconds in which this process was running. By the wall clock a
 * server would seem slow when this process was stopped, had no processor, or was busy with one long turn of its
 * event loop: all that time, a reply may have been there without being read.
 */
export class RunningTime {
  #now = 0;
  #last = performance.now();
  readonly #timer: Timer;

  /** `ticked` is called with each tick, a hundred times a second at the most. */
  constructor(ticked: () => void) {
    this.#timer = setInterval(() => {
      const now = performance.now();
      const passed = now - this.#last;
      this.#last = now;
      this.#now += passed <= ON_TIME ? passed : LATE_TICK;
      ticked();
    }, TICK);
  }

  /** Milliseconds since the beginning in which this process was running, as of the last tick. */
  get now(): number {
    return this.#now;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Resolves when what has arrived by now has been read. */
export async function readArrived(): Promise<void> {
  // One turn of the event loop ends behind the first; the next one begins with reading.
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}
