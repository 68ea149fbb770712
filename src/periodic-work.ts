import type { Log } from "./telemetry/log.ts";

/**
 * Milliseconds between two rounds. What they write may be a second old at the most when the process
 * is killed, and a round begins late where there is much to do, and takes its time.
 */
const PERIOD = 500;

interface Task {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** Runs tasks one after the other, twice a second, off the way of requests. A failure is logged and tried again. */
export class PeriodicWork {
  readonly #log: Log;
  readonly #tasks: readonly Task[];
  readonly #timer: Timer;
  #round: Promise<void> | undefined;

  constructor(log: Log, tasks: readonly Task[]) {
    this.#log = log;
    this.#tasks = tasks;
    this.#timer = setInterval(() => this.#start(), PERIOD);
  }

  /** Ends the rhythm after one last round. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
    await this.#run();
  }

  #start(): void {
    this.#round ??= this.#run().finally(() => {
      this.#round = undefined;
    });
  }

  async #run(): Promise<void> {
    for (const { name, run } of this.#tasks) {
      try {
        await run();
      } catch (error) {
        this.#log.error(`failed to ${name}`, error);
      }
    }
  }
}
