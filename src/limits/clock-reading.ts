import type { Boot, Clock } from "../timing/clock.ts";

/**
 * A difference between the two clocks that changes by more than this is a jump of the wall clock, in
 * milliseconds. What time daemons correct by less they do by running slower or faster, which both
 * clocks follow.
 */
const JUMP = 100;

/** A moment, read once for a whole decision: by the real clock, or by the clock of a sandbox. */
export interface ClockReading {
  /** Wall clock, unix milliseconds. */
  readonly wall: number;
  /** Milliseconds since the start of the machine, which no setting of the wall clock changes. */
  readonly monotonic: number;
  /** Counts the jumps of the wall clock so far. */
  readonly jumps: number;
  /** Tells this start of the machine from others. */
  readonly boot: number;
  /** Milliseconds that the clock is ahead of real time. */
  readonly ahead: number;
}

/** The same moment by a clock that is this many milliseconds ahead of real time. */
export function aheadBy(reading: ClockReading, ahead: number): ClockReading {
  const more = ahead - reading.ahead;
  if (more === 0) return reading;
  return { ...reading, wall: reading.wall + more, monotonic: reading.monotonic + more, ahead };
}

/** When a clock that is so far ahead shows a time (in unix milliseconds), in real unix seconds. */
export function realSeconds(time: number, ahead: number): number {
  return Math.ceil((time - ahead) / 1000);
}

/**
 * Reads the clocks and notices when the wall clock jumps. What lasts a stated time (a minute, a ban)
 * ends by the monotonic clock, so that no jump ends or lengthens it.
 */
export class ClockReader {
  readonly #clock: Clock;
  readonly #boot: Boot;
  #difference: number;
  #jumps = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#boot = clock.boot;
    this.#difference = clock.now() - clock.monotonic();
  }

  now(): ClockReading {
    let wall = this.#clock.now();
    let monotonic = this.#clock.monotonic();
    if (this.#isJump(wall, monotonic)) {
      // The thread may have been held up between the two. Not twice.
      wall = this.#clock.now();
      monotonic = this.#clock.monotonic();
      if (this.#isJump(wall, monotonic)) {
        this.#difference = wall - monotonic;
        this.#jumps++;
      }
    }
    return { wall, monotonic: monotonic + this.#boot.offset, jumps: this.#jumps, boot: this.#boot.id, ahead: 0 };
  }

  #isJump(wall: number, monotonic: number): boolean {
    return Math.abs(wall - monotonic - this.#difference) > JUMP;
  }
}

/**
 * The end of a stated time as it is kept in the store, in whole milliseconds. The wall clock may be set
 * while no process runs, but until the machine restarts, its monotonic time decides.
 */
export interface StoredEnd {
  /** Unix time. */
  readonly wall: number;
  /** Time since the start of the machine that `boot` tells. */
  readonly monotonic: number;
  readonly boot: number;
}

/** The end of what lasts for another `rest` milliseconds; negative where it has passed. */
export function storedEnd(rest: number, { wall, monotonic, boot }: ClockReading): StoredEnd {
  return { wall: Math.ceil(wall + rest), monotonic: Math.ceil(monotonic + rest), boot };
}

/**
 * Milliseconds until an end; negative where it has passed. `opened` is when the limiter began: what was
 * stored before the machine started is compared with the wall clock of that moment, so that no later
 * one matters. At most `longest`: a wall clock that was set back must not lengthen anything.
 */
export function remainingUntil(end: StoredEnd, longest: number, reading: ClockReading, opened: ClockReading): number {
  if (end.boot === reading.boot) return Math.min(end.monotonic - reading.monotonic, longest);
  return Math.min(end.wall - opened.wall, longest) - (reading.monotonic - opened.monotonic);
}
