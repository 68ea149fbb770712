import type { BackgroundTask } from "../domains/domain.ts";
import type { Log } from "../telemetry/log.ts";
import type { MaybePromise } from "../timing/maybe-promise.ts";

/**
 * Milliseconds between two rounds. What they write may be a second old at the most when the process
 * is killed, and a round begins late where there is much to do, and takes its time.
 */
const PERIOD = 500;

/** Runs tasks one after the other, twice a second, off the way of requests. A failure is logged and tried again. */
export class BackgroundTasks {
  readonly #log: Log;
  readonly #tasks: readonly BackgroundTask[];
  readonly #lead: () => MaybePromise<boolean>;
  readonly #timer: Timer;
  #round: Promise<void> | undefined;

  /** `lead` tells in each round whether this process is the leader: see `Storage.lead`. */
  constructor(log: Log, tasks: readonly BackgroundTask[], lead: () => MaybePromise<boolean>) {
    this.#log = log;
    this.#tasks = tasks;
    this.#lead = lead;
    this.#timer = setInterval(() => this.#start(), PERIOD);
  }

  /** Ends the rhythm after one last round, and finishes the tasks that have to be. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
    await this.#run();
    for (const { name, finish } of this.#tasks) {
      await finish?.().catch((error: unknown) => this.#log.error("task_failed", error, { task: name }));
    }
  }

  #start(): void {
    this.#round ??= this.#run().finally(() => {
      this.#round = undefined;
    });
  }

  async #run(): Promise<void> {
    const leads = await this.#leads();
    for (const { name, by, run } of this.#tasks) {
      if (by === "leader" && !leads) continue;
      try {
        await run();
      } catch (error) {
        this.#log.failing("task_failed", error, { task: name });
      }
    }
  }

  async #leads(): Promise<boolean> {
    try {
      return await this.#lead();
    } catch (error) {
      this.#log.failing("task_failed", error, { task: "find_leader" });
      return false;
    }
  }
}
