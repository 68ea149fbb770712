import type { BackgroundTask } from "../domains/domain.ts";
import type { Log } from "../telemetry/log.ts";
import type { MaybePromise } from "../timing/maybe-promise.ts";

/**
 * Milliseconds between two rounds. At most a second of data may be lost when the process is killed. The other half
 * second is left for a busy process, in which a round starts late and takes longer.
 */
const PERIOD = 500;

/** Runs tasks in sequence, twice a second, outside of requests. A failed task is logged and tried again. */
export class BackgroundTasks {
  readonly #log: Log;
  readonly #tasks: readonly BackgroundTask[];
  readonly #lead: (asSubstitute: boolean) => MaybePromise<boolean>;
  readonly #timer: Timer;
  #round: Promise<void> | undefined;
  /** True if another round must follow the one in progress. */
  #isDue = false;
  #isStopped = false;

  /** `lead` returns in each round whether this process is the leader: see `Storage.lead`. */
  constructor(log: Log, tasks: readonly BackgroundTask[], lead: (asSubstitute: boolean) => MaybePromise<boolean>) {
    this.#log = log;
    this.#tasks = tasks;
    this.#lead = lead;
    this.#timer = setInterval(() => this.#start(), PERIOD);
  }

  /** Starts a round at once, or when the one in progress ends. */
  runSoon(): void {
    if (this.#isStopped) return;
    this.#isDue = this.#round !== undefined;
    this.#start();
  }

  /** Runs one last round, then calls `finish` of each task that has it. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#isStopped = true;
    await this.#round;
    await this.#run();
    for (const { name, finish } of this.#tasks) {
      await finish?.().catch((error: unknown) => this.#log.error("task_failed", error, { task: name }));
    }
  }

  #start(): void {
    this.#round ??= this.#run().finally(() => {
      this.#round = undefined;
      if (!this.#isDue || this.#isStopped) return;
      this.#isDue = false;
      this.#start();
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
      return await this.#lead(this.#tasks.some(({ preventsLeading }) => preventsLeading?.()));
    } catch (error) {
      this.#log.failing("task_failed", error, { task: "find_leader" });
      return false;
    }
  }
}
