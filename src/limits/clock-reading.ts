import type { Boot, Clock } from "../timing/clock.ts";

/**
 * If the difference between the two clocks changes by more than this, the wall clock has jumped, in milliseconds. Time
 * daemons make smaller corrections by slowing or speeding up, which affects both clocks.
 */
const JUMP = 100;

/** The time of a decision, read once: from the real clock or the clock of a sandbox. */
export interface ClockReading {
  /** Wall clock, Unix milliseconds. */
  readonly wall: number;
  /** Milliseconds since the start of the machine, which no setting of the wall clock changes. */
  readonly monotonic: number;
  /** Counts the jumps of the wall clock so far. */
  readonly jumps: number;
  /** Identifies the boot of the machine. */
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

/**
 * The real time, in Unix seconds, at which a clock that is `ahead` milliseconds ahead shows `time` (Unix milliseconds).
 */
export function realSeconds(time: number, ahead: number): number {
  return Math.ceil((time - ahead) / 1000);
}

/** `Retry-After` for this many milliseconds: whole seconds, at least 1, so that the client does not return too early. */
export function retryAfterOf(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}

/**
 * Reads the clocks and detects jumps of the wall clock. Durations such as a minute or a ban end by the
 * monotonic clock, so that a jump neither ends nor extends them.
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
      // The thread may have paused between the two readings. A second pause is unlikely.
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
 * The stored end of a duration, in whole milliseconds. The wall clock may be set while no process runs, so the
 * monotonic time decides until the machine reboots.
 */
export interface StoredEnd {
  /** Unix time. */
  readonly wall: number;
  /** The time since the boot with the id `boot`. */
  readonly monotonic: number;
  readonly boot: number;
}

/** The end to store for a duration with `rest` milliseconds left; `rest` is negative if it has passed. */
export function storedEnd(rest: number, { wall, monotonic, boot }: ClockReading): StoredEnd {
  return { wall: Math.ceil(wall + rest), monotonic: Math.ceil(monotonic + rest), boot };
}

/**
 * Milliseconds until an end; negative if it has passed. An end from an earlier boot is compared with the wall clock at
 * `opened`, when the limiter started, so that later changes of the wall clock do not matter. The result is at most
 * `longest`, because a wall clock that was set back must not extend a duration.
 */
export function remainingUntil(end: StoredEnd, longest: number, reading: ClockReading, opened: ClockReading): number {
  if (end.boot === reading.boot) return Math.min(end.monotonic - reading.monotonic, longest);
  return Math.min(end.wall - opened.wall, longest) - (reading.monotonic - opened.monotonic);
}
