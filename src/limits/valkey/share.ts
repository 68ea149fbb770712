import type { Quota } from "../../contract/caller.ts";
import { PRESENCE_LIFETIME } from "./short-scripts.ts";

/** The equal share of every limit that each running process has while it decides locally. */
export class Share {
  #processes = 1;
  #setAt = 0;

  /** The last known number of running processes. */
  get processes(): number {
    return this.#processes;
  }

  /**
   * Records the number of running processes. A lower number counts only after a while: the server may have lost its
   * data.
   */
  setProcesses(processes: number): void {
    const now = performance.now();
    if (processes < this.#processes && now - this.#setAt < PRESENCE_LIFETIME) return;
    this.#processes = processes;
    this.#setAt = now;
  }

  /** The process's share of a quota: at least one request. It follows the number of processes. */
  of(quota: Quota): Quota {
    const part = (requests: number) => Math.max(1, Math.floor(requests / this.#processes));
    return {
      get perMinute() {
        return part(quota.perMinute);
      },
      get perDay() {
        return part(quota.perDay);
      },
    };
  }
}
