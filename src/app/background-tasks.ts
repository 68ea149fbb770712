import type { BackgroundTask } from "../domains/domain.ts";
import type { Log } from "../telemetry/log.ts";
import type { MaybePromise } from "../timing/maybe-promise.ts";
import { settlesWithin } from "../timing/waiting.ts";

/**
 * Milliseconds between two rounds. At most a second of data may be lost when the process is killed. The other half
 * second is left for a busy process, in which a round starts late and takes longer.
 */
const PERIOD = 500;
/**
 * How long a round waits for one task before it starts the next, in milliseconds. A round is short, because the
 * lease of the leader ends after 3 s (`lease.ts`), and a round renews it when it starts or has waited for a task.
 */
const TASK_WAIT = 100;
/** Fewer than the connections to PostgreSQL for transactions of several statements: one is left for requests. */
const MAX_AT_ONCE = 3;

/**
 * Runs tasks in sequence, twice a second, outside of requests. A failed task is logged and tried again. Up to two tasks that
 * take long, such as those that wait for a locked shop, delay no other: rounds continue without them. With three, a round
 * waits until one has ended.
 */
export class BackgroundTasks {
  readonly #log: Log;
  readonly #lead: () => MaybePromise<boolean>;
  readonly #tasks: BackgroundTask[] = [];
  #timer: Timer | undefined;
  #round: Promise<void> | undefined;
  readonly #inProgress = new Map<BackgroundTask, Promise<void>>();
  /** Tasks that were in progress when a round was asked for: another round must follow when they end. */
  readonly #mustRepeat = new Set<BackgroundTask>();
  /** True if another round must follow the one in progress. */
  #isDue = false;
  #isStopped = false;

  /** `lead` returns in each round whether this process is the leader: see `Upkeep.lead`. */
  constructor(log: Log, lead: () => MaybePromise<boolean>) {
    this.#log = log;
    this.#lead = lead;
  }

  /** Adds a task. Throws `TypeError` if another one has its name, because the log identifies tasks by name. */
  add(task: BackgroundTask): void {
    if (this.#tasks.some(({ name }) => name === task.name))
      throw new TypeError(`Two background tasks are named ${task.name}.`);
    this.#tasks.push(task);
  }

  /** Starts a round twice a second from now on. */
  start(): void {
    this.#timer = setInterval(() => this.#startRound(), PERIOD);
  }

  /** Starts a round at once, or when the one in progress ends. Tasks in progress run again when they end. */
  runSoon(): void {
    if (this.#isStopped) return;
    for (const task of this.#inProgress.keys()) this.#mustRepeat.add(task);
    this.#startSoon();
  }

  /** Runs each task one last time, then calls its `finish`. A slow task does not delay the others. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#isStopped = true;
    await this.#round;
    const leads = await this.#leads();
    await Promise.all(
      this.#tasks.map(async (task) => {
        const pending = this.#inProgress.get(task);
        await pending;
        // During a long wait, another process may have begun to lead.
        const isAllowed = task.by === "each" || (pending ? await this.#leads() : leads);
        if (isAllowed) await this.#runTask(task);
        await task.finish?.().catch((error: unknown) => this.#log.error("task_failed", error, { task: task.name }));
      }),
    );
  }

  #startSoon(): void {
    this.#isDue = this.#round !== undefined;
    this.#startRound();
  }

  #startRound(): void {
    this.#round ??= this.#run().finally(() => {
      this.#round = undefined;
      if (!this.#isDue || this.#isStopped) return;
      this.#isDue = false;
      this.#startRound();
    });
  }

  async #run(): Promise<void> {
    let leads = await this.#leads();
    for (const task of this.#tasks) {
      if (this.#inProgress.size >= MAX_AT_ONCE) {
        while (this.#inProgress.size >= MAX_AT_ONCE) await Promise.race(this.#inProgress.values());
        leads = await this.#leads(); // during the wait, another process may have begun to lead
      }
      if (task.by === "leader" && !leads) continue;
      if (!this.#inProgress.has(task)) await settlesWithin(this.#runTask(task), TASK_WAIT);
    }
  }

  /** Never rejects. */
  #runTask(task: BackgroundTask): Promise<void> {
    const run = task
      .run()
      .catch((error: unknown) => this.#log.failing("task_failed", error, { task: task.name }))
      .finally(() => {
        this.#inProgress.delete(task);
        if (this.#mustRepeat.delete(task) && !this.#isStopped) this.#startSoon();
      });
    this.#inProgress.set(task, run);
    return run;
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
