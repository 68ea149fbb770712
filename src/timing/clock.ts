import { readFileSync } from "node:fs";

/**
 * A clock that tests can replace. `now` is the wall clock in Unix milliseconds, which can be wrong and can
 * jump. `monotonic` counts milliseconds from an arbitrary start and never goes back. Durations are measured
 * with it.
 */
export interface Clock {
  now(): number;
  monotonic(): number;
  /** Identifies the origin of `monotonic`, so that other processes can use stored values. */
  readonly boot: Boot;
}

/** The start of the machine. */
export interface Boot {
  /** An integer that identifies this boot of the machine. */
  readonly id: number;
  /** Milliseconds to add to `monotonic` for the time since this start. */
  readonly offset: number;
}

/**
 * `/proc/uptime` is rounded down to this many milliseconds. They are added, because a clock that is behind would reach
 * the stored end of a ban too late.
 */
const UPTIME_RESOLUTION = 10;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  boot: readBoot(),
};

/** If the system does not provide it, a random number stands for the boot, and differs between processes. */
function readBoot(): Boot {
  try {
    const uuid = readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
    const id = Number.parseInt(uuid.replaceAll("-", "").slice(0, 12), 16); // 48 bits, so the integer is safe
    const uptime = Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1000 + UPTIME_RESOLUTION;
    if (Number.isSafeInteger(id) && uptime > 0) return { id, offset: uptime - performance.now() };
  } catch {
    // This system has no such file.
  }
  return { id: Math.floor(Math.random() * Number.MAX_SAFE_INTEGER), offset: 0 };
}

/** Lengths of time, in the unit that ends their name: timers and clocks take milliseconds, the API takes seconds. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const MINUTE_SECONDS = 60;
export const HOUR_SECONDS = 60 * MINUTE_SECONDS;
export const DAY_SECONDS = 24 * HOUR_SECONDS;

/** How far the wall clock may be from the monotonic one, in milliseconds. */
const TOLERANCE = HOUR_MS;

/**
 * The time by which data is deleted because of its age, and by which stored responses expire: the wall clock while it
 * agrees with the monotonic clock since the start of this process. If it is set far ahead, the time continues by the
 * monotonic clock, because what is deleted by mistake is lost. Due times that a response has named, such as the end of a
 * reservation, follow the wall clock.
 */
export class ExpiryClock {
  readonly #clock: Clock;
  readonly #difference: number;
  readonly #onJump: (ahead: number) => void;
  #agrees = true;

  /** `onJump` is called when the wall clock begins to disagree, with how far it is ahead, in milliseconds. */
  constructor(clock: Clock, onJump: (ahead: number) => void) {
    this.#clock = clock;
    this.#difference = clock.now() - clock.monotonic();
    this.#onJump = onJump;
  }

  /** How far the wall clock is ahead of the monotonic one, in milliseconds. */
  get ahead(): number {
    return this.#clock.now() - this.#clock.monotonic() - this.#difference;
  }

  /** Unix milliseconds. */
  now(): number {
    const { ahead } = this;
    const agrees = Math.abs(ahead) <= TOLERANCE;
    if (this.#agrees && !agrees) this.#onJump(ahead);
    this.#agrees = agrees;
    return this.#clock.now() - (ahead > TOLERANCE ? ahead : 0);
  }
}

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
