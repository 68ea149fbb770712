import { readFileSync } from "node:fs";

/**
 * Time, as clocks that tests can set. `now` is the wall clock in unix milliseconds: it can be wrong
 * and can jump. `monotonic` counts milliseconds from an arbitrary start and never goes back: whatever
 * lasts for a stated time is measured with it.
 */
export interface Clock {
  now(): number;
  monotonic(): number;
  /** What `monotonic` has in common with that of other processes, for what outlives a process. */
  readonly boot: Boot;
}

/** The start of the machine. */
export interface Boot {
  /** A whole number that tells this start of the machine from any other. */
  readonly id: number;
  /** Milliseconds to add to `monotonic` for the time since this start. */
  readonly offset: number;
}

/** The file below counts hundredths of a second, rounded down; what has ended must not seem to continue. */
const UPTIME_RESOLUTION = 10;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  boot: readBoot(),
};

/** Where the system does not tell it, the process passes for the only one since the start. */
function readBoot(): Boot {
  try {
    const id = Number.parseInt(readFileSync("/proc/sys/kernel/random/boot_id", "utf8").replace("-", ""), 16);
    const uptime = Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1000 + UPTIME_RESOLUTION;
    if (Number.isSafeInteger(id) && uptime > 0) return { id, offset: uptime - performance.now() };
  } catch {
    // No such files here.
  }
  return { id: Math.floor(Math.random() * Number.MAX_SAFE_INTEGER), offset: 0 };
}
