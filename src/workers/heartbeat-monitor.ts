import { readFileSync } from "node:fs";

/** How often a worker sends a heartbeat, and how often its supervisor checks for one, in milliseconds. */
export const HEARTBEAT_INTERVAL = 250;

/** If a check is this many milliseconds or more after the previous one, the time between them is ignored. */
const ON_TIME = 1.5 * HEARTBEAT_INTERVAL;

/**
 * Detects from its heartbeats whether a process hangs or is only slow. It ignores time in which this process did not
 * check on time, so that its own pauses and those of the machine do not count as silence. It also ignores time in which
 * the other process waited for a processor.
 */
export class HeartbeatMonitor {
  #limit: number;
  #silence = 0;
  #checkedAt: number;
  #waited = 0;

  /** `limit` is how long the other process may be silent. `now` is monotonic time. Both are in milliseconds. */
  constructor(limit: number, now: number) {
    this.#limit = limit;
    this.#checkedAt = now;
  }

  /** Records a heartbeat or another message of the other process. */
  heard(): void {
    this.#silence = 0;
  }

  /** Sets how long the other process may be silent from now on, in milliseconds. */
  set limit(limit: number) {
    this.#limit = limit;
    this.#silence = 0;
  }

  get limit(): number {
    return this.#limit;
  }

  /**
   * Returns true if the other process hangs. Call it every `HEARTBEAT_INTERVAL`. `waited` is how long that process has
   * waited for a processor so far, in milliseconds; undefined if that is unknown now.
   */
  check(now: number, waited: number | undefined): boolean {
    const elapsed = now - this.#checkedAt;
    const waitedSoFar = waited ?? this.#waited;
    const silent = elapsed - (waitedSoFar - this.#waited);
    this.#checkedAt = now;
    this.#waited = waitedSoFar;
    if (elapsed < ON_TIME) this.#silence += Math.max(0, silent);
    return this.#silence >= this.#limit;
  }
}

/**
 * How long the main thread of a process has waited for a processor so far, in milliseconds. Undefined if the system does
 * not say, or if this process has no free file descriptor to read it.
 */
export function processorWait(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[1]) / 1_000_000;
  } catch {
    return undefined;
  }
}
