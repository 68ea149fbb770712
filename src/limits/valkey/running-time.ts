/** Time between two ticks, in milliseconds. */
const TICK = 10;
/**
 * If more time than this has passed since the previous tick, in milliseconds, this process was blocked, or its machine was
 * busy.
 */
const ON_TIME = 15;
/** For this many ticks after a late tick, the machine counts as busy. */
const BUSY_TICKS = 100;
/** On a busy machine, a server may take this many times longer, because it may run on the same machine. */
const BUSY_FACTOR = 5;
/**
 * However many ticks are late, a wait is over after this many times the ticks that fit into it: one of 50 ms after 100
 * ticks.
 */
const MAX_TICKS_FACTOR = 20;

/** When a wait began. */
export interface WaitStart {
  readonly time: number;
  readonly ticks: number;
}

/**
 * Measures how long a server takes, in ticks of this process that come on time. By the clock alone, the server would
 * seem slow if this process was stopped, had no processor, or was busy with a long turn of its event loop: the reply
 * may have arrived without being read. So each wait starts again after a late tick.
 */
export class RunningTime {
  /** The sum of the times between ticks that came on time, in milliseconds. */
  #time = 0;
  /** The value of `#time` at the last late tick. */
  #timeAtLateTick = 0;
  #ticks = 0;
  /** The number of the last late tick. */
  #lateTick = Number.NEGATIVE_INFINITY;
  #last = performance.now();
  readonly #timer: Timer;

  /** Calls `ticked` at each tick, at most a hundred times a second. */
  constructor(ticked: () => void) {
    this.#timer = setInterval(() => {
      const now = performance.now();
      const passed = now - this.#last;
      this.#last = now;
      this.#ticks++;
      if (passed <= ON_TIME) this.#time += passed;
      else {
        this.#timeAtLateTick = this.#time;
        this.#lateTick = this.#ticks;
      }
      ticked();
    }, TICK);
  }

  /** Starts a wait. */
  start(): WaitStart {
    return { time: this.#time, ticks: this.#ticks };
  }

  /**
   * True if a wait has taken longer than the given milliseconds since its last late tick. If a tick was late within the
   * last 100 ticks, the limit is five times as long. In any case, a wait is over after `MAX_TICKS_FACTOR` times as many
   * ticks as that time has.
   */
  isOver({ time, ticks }: WaitStart, milliseconds: number): boolean {
    const waited = this.#time - Math.max(time, this.#timeAtLateTick);
    const factor = this.#ticks - this.#lateTick > BUSY_TICKS ? 1 : BUSY_FACTOR;
    return waited > factor * milliseconds || (this.#ticks - ticks) * TICK > MAX_TICKS_FACTOR * milliseconds;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Resolves when all data that has arrived so far has been read. */
export async function readArrived(): Promise<void> {
  // The first `setImmediate` ends this turn of the event loop. The next turn begins with reading.
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}
