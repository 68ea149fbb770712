import { randomUUID } from "node:crypto";
import { RunningTime, readArrived, type WaitStart } from "./running-time.ts";
import type { Share } from "./share.ts";
import type { ValkeyCounts } from "./valkey-counts.ts";

/** How long a call may take, in milliseconds. */
const CALL_TIMEOUT = 50;
/** Milliseconds between probes of the server. */
const PROBE_INTERVAL = 250;
/** How long a server may be silent before this process reconnects to it, in milliseconds. */
const MAX_SILENCE = 1_000;

/** The reason when a call or a probe took too long. */
const tooSlow = new Error("The server did not respond in time.");

/** What the watch observes, and what it reports to. */
interface Watched {
  readonly isInFallback: () => boolean;
  /** The call that has waited longest. */
  readonly oldestCall: () => { readonly since: WaitStart } | undefined;
  readonly startFallback: (reason: Error) => void;
  readonly endFallback: () => void;
}

/** Watches whether the server replies in time: to calls, and to a probe four times a second. */
export class ServerWatch {
  readonly #counts: ValkeyCounts;
  readonly #share: Share;
  readonly #callTimeout: number;
  readonly #watched: Watched;
  readonly #process = randomUUID();
  readonly #time: RunningTime;
  readonly #probes: Timer;
  /** When the probe that is under way started. */
  #probingSince: WaitStart | undefined;
  /** The start of the current silence: the last reply to a probe, or the last reconnection. */
  #silentSince: WaitStart;
  #isStopped = false;

  constructor(counts: ValkeyCounts, share: Share, watched: Watched, callTimeout = CALL_TIMEOUT) {
    this.#counts = counts;
    this.#share = share;
    this.#watched = watched;
    this.#callTimeout = callTimeout;
    this.#time = new RunningTime(() => this.#check());
    this.#silentSince = this.#time.start();
    this.#probes = setInterval(() => void this.probe(), PROBE_INTERVAL);
  }

  /** Starts a wait. */
  start(): WaitStart {
    return this.#time.start();
  }

  /** Checks that the server replies in time, and reads the number of running processes. */
  async probe(): Promise<void> {
    if (this.#probingSince !== undefined) return;
    const since = this.#time.start();
    this.#probingSince = since;
    try {
      const processes = await this.#counts.reportPresence(this.#process);
      if (this.#isStopped) return;
      this.#share.setProcesses(processes);
      this.#silentSince = this.#time.start();
      if (this.#isOverdue(since)) this.#watched.startFallback(tooSlow);
      else this.#watched.endFallback();
    } catch (error) {
      // Closing the connection ends a probe with an error too.
      if (!this.#isStopped) this.#watched.startFallback(error as Error);
    } finally {
      this.#probingSince = undefined;
    }
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#probes);
    this.#time.stop();
  }

  /** After each tick: starts the fallback if a call or a probe is overdue, and reconnects to a silent server. */
  #check(): void {
    const oldest = this.#watched.oldestCall();
    if (oldest && this.#isOverdue(oldest.since))
      void this.#startFallbackUnlessAnswered(() => this.#watched.oldestCall() === oldest);
    const since = this.#probingSince;
    if (since !== undefined && this.#isOverdue(since))
      void this.#startFallbackUnlessAnswered(() => this.#probingSince === since);
    if (
      this.#watched.isInFallback() &&
      this.#time.isOver(this.#silentSince, Math.max(MAX_SILENCE, this.#callTimeout))
    ) {
      this.#silentSince = this.#time.start();
      this.#counts.reconnect();
    }
  }

  #isOverdue(since: WaitStart): boolean {
    return this.#time.isOver(since, this.#callTimeout);
  }

  /** Reads replies that have already arrived. If the call still waits then, the server is too slow. */
  async #startFallbackUnlessAnswered(stillWaits: () => boolean): Promise<void> {
    if (this.#watched.isInFallback()) return;
    await readArrived();
    if (stillWaits()) this.#watched.startFallback(tooSlow);
  }
}
