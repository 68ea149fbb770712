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
