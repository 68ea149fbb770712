import type { Quota } from "../../contract/quota.ts";
import { PRESENCE_LIFETIME } from "./limits-script.ts";

/** The share of every limit that one process has while it decides alone: an equal one of all that run. */
export class Share {
  #processes = 1;
  #heardOfMost = 0;

  /** How many processes run, as far as is known. */
  get processes(): number {
    return this.#processes;
  }

  /** Records the number of running processes. A server that lost them does not enlarge the shares immediately. */
  heardOf(processes: number): void {
    const now = performance.now();
    if (processes < this.#processes && now - this.#heardOfMost < PRESENCE_LIFETIME) return;
    this.#processes = processes;
    this.#heardOfMost = now;
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
