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
