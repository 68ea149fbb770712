/** Time between two ticks, in milliseconds. */
const TICK = 10;
/** A tick that comes later than this after the one before was held up by this process or its machine. */
const ON_TIME = 15;
/**
 * Ticks for which one that came late shows that the machine is busy, and how many times longer a server may take
 * then: it may be on the same machine, and wait for the processor.
 */
const LATELY = 100;
const LENIENCE = 5;
/** A process whose ticks always come late has waited long enough after this many times the ticks. */
const BUSY = 20;

/** When a wait began. */
export interface WaitStart {
  readonly time: number;
  readonly ticks: number;
}

/**
 * Measures how long a server takes, by ticks of this process that come on time. By the clock alone it would seem slow
 * when this process was stopped, had no processor, or was busy with one long turn of its event loop: a reply may
 * have been there all that time without being read. So each wait begins again with a tick that comes late.
 */
export class RunningTime {
  /** Milliseconds between ticks that came on time, and what they were at the last one that did not. */
  #time = 0;
  #late = 0;
  #ticks = 0;
  /** Which one came late last. */
  #lateTick = Number.NEGATIVE_INFINITY;
  #last = performance.now();
  readonly #timer: Timer;

  /** `ticked` is called with each tick, a hundred times a second at the most. */
  constructor(ticked: () => void) {
    this.#timer = setInterval(() => {
      const now = performance.now();
      const passed = now - this.#last;
      this.#last = now;
      this.#ticks++;
      if (passed <= ON_TIME) this.#time += passed;
      else {
        this.#late = this.#time;
        this.#lateTick = this.#ticks;
      }
      ticked();
    }, TICK);
  }

  /** A wait that begins now. */
  start(): WaitStart {
    return { time: this.#time, ticks: this.#ticks };
  }

  /**
   * True once a wait has taken longer than the given milliseconds without a tick that came late, as of the last tick;
   * five times as many if one came late within the last second.
   */
  isOver({ time, ticks }: WaitStart, milliseconds: number): boolean {
    const waited = this.#time - Math.max(time, this.#late);
    const lenience = this.#ticks - this.#lateTick > LATELY ? 1 : LENIENCE;
    return waited > lenience * milliseconds || (this.#ticks - ticks) * TICK > BUSY * milliseconds;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Resolves when what has arrived by now has been read. */
export async function readArrived(): Promise<void> {
  // One turn of the event loop ends after the first; the next one begins with reading.
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}
