import type { StopPhase } from "../http/server.ts";
import type { Log } from "../telemetry/log.ts";
import { joinMetrics } from "./joined-metrics.ts";
import type { LineOutput } from "./line-output.ts";
import type { ListeningAt } from "./messages.ts";
import { type SilenceLimits, WorkerProcess } from "./worker-process.ts";

/** A worker that has run for this long has started successfully, in milliseconds. */
const STABLE_AFTER = 30_000;
/** After this many consecutive ends of a worker before that time, the service stops. */
const MAX_ENDS = 5;
/** The pause before a worker is replaced after the second such end, in milliseconds. Each end doubles it. */
const FIRST_PAUSE = 200;
/** The pause before the system is asked again for a worker that it could not start, in milliseconds. */
const START_PAUSE = 1_000;

/**
 * Clients of a hanging worker wait until it is killed, which takes at most 3 s. A turn of the event loop that lasts a
 * second is well below the limit.
 */
const SILENCE_LIMITS: SilenceLimits = { starting: 60_000, serving: 2_500 };

/** The workers cannot run. The message is for the operator. */
export class WorkersFailed extends Error {
  override readonly name = "WorkersFailed";
}

export interface SupervisorOptions {
  readonly workers: number;
  /** The command that starts the worker with this number. */
  readonly command: (number: number) => readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly output: LineOutput;
  readonly log: Log;
  readonly stop: AbortSignal;
  /** `SILENCE_LIMITS` by default. */
  readonly silence?: SilenceLimits;
}

/** Keeps a number of workers running that share one port. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  /** The worker of each slot, by its number from 1; during a replacement, the old one. */
  readonly #slots: WorkerProcess[] = [];
  /** All running workers. */
  readonly #running = new Set<WorkerProcess>();
  readonly #end = Promise.withResolvers<void>();
  /** The stopping workers that wait at each phase until the others reach it, with the function that lets each go on. */
  readonly #waiting: Readonly<Record<StopPhase, Map<WorkerProcess, () => void>>> = {
    holding: new Map(),
    closed: new Map(),
  };
  #failure: WorkersFailed | undefined;
  #isEnding = false;
  #replaced = 0;
  #isStarting = true;
  #isRestarting = false;
  #isRestartWanted = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /**
   * Starts all workers. The first one starts alone, so that it creates the store and invalid settings are reported once.
   * Resolves when all serve, or with undefined if asked to stop before. Rejects with `WorkersFailed` if the first one
   * fails.
   */
  async start(): Promise<ListeningAt | undefined> {
    const { stop, workers } = this.#options;
    const end = () => this.#endAll();
    if (stop.aborted) end();
    else stop.addEventListener("abort", end);
    if (this.#isEnding) return undefined;
    const first = this.#spawn(1);
    const at = await Promise.race([first.ready, this.#end.promise]);
    if (this.#isEnding) return undefined;
    if (!at) throw new WorkersFailed(`The first worker ended before it could serve, ${await first.ended}.`);
    for (let number = 2; number <= workers; number++) this.#slots[number] = this.#spawn(number);
    this.#slots[1] = first;
    for (const worker of this.#slots.slice(1)) void this.#keepRunning(worker);
    await Promise.race([this.#allReady(), this.#end.promise]);
    this.#isStarting = false;
    void this.#replaceAll(); // if a restart was wanted during the start
    return this.#isEnding ? undefined : at;
  }

  /** Resolves when all have stopped on request. Rejects with `WorkersFailed` if a worker kept failing. */
  async ended(): Promise<void> {
    await this.#end.promise;
    await Promise.all([...this.#running].map((worker) => worker.stop()));
    if (this.#failure) throw this.#failure;
  }

  /**
   * Replaces all workers one by one, each when its successor serves. A call in the meantime starts another round. A call
   * during the start takes effect after it.
   */
  restart(): void {
    this.#isRestartWanted = true;
    if (!this.#isStarting && !this.#isRestarting) void this.#replaceAll();
  }

  /** The metrics of all workers that answer, and of this process. */
  async metrics(): Promise<string> {
    const workers = this.#slots.slice(1);
    const texts = await Promise.all(workers.map((worker) => worker.metrics()));
    const exposed = workers.flatMap(({ number }, index) => {
      const text = texts[index];
      return text === undefined ? [] : [{ worker: number, text }];
    });
    return `${joinMetrics(exposed)}${this.#ownMetrics(exposed.length)}`;
  }

  #ownMetrics(answered: number): string {
    return [
      "# HELP petstore_workers Configured number of workers.\n# TYPE petstore_workers gauge\n",
      `petstore_workers ${this.#options.workers}\n`,
      "# HELP petstore_workers_answering Workers whose metrics are in this response.\n",
      `# TYPE petstore_workers_answering gauge\npetstore_workers_answering ${answered}\n`,
      "# HELP petstore_workers_replaced_total Workers that ended unexpectedly and were replaced.\n",
      `# TYPE petstore_workers_replaced_total counter\npetstore_workers_replaced_total ${this.#replaced}\n`,
    ].join("");
  }

  #spawn(number: number): WorkerProcess {
    const { command, environment, output, log, silence = SILENCE_LIMITS } = this.#options;
    const worker = new WorkerProcess({
      number,
      command: command(number),
      environment,
      output,
      metricsOfAll: () => this.metrics(),
      onReached: (phase, goOn) => {
        if (!this.#isEnding) return goOn(); // the others continue serving
        this.#waiting[phase].set(worker, goOn);
        this.#goOnTogether();
      },
      silence,
      onHang: (milliseconds) =>
        log.warn("worker_hung", { worker: number, pid: worker.pid, seconds: milliseconds / 1_000 }),
    });
    this.#running.add(worker);
    void worker.ready.then((at) => at && log.info("worker_ready", { worker: number, pid: worker.pid }));
    void worker.ended.then(() => {
      this.#running.delete(worker);
      this.#goOnTogether();
    });
    return worker;
  }

  /** Lets the workers at a phase go on when all that serve have reached it. */
  #goOnTogether(): void {
    for (const waiting of Object.values(this.#waiting)) {
      if ([...this.#running].some((worker) => worker.isReady && !waiting.has(worker))) continue;
      for (const goOn of waiting.values()) goOn();
      waiting.clear();
    }
  }

  /** Starts another worker in a slot whenever its worker ends unexpectedly. */
  async #keepRunning(worker: WorkerProcess): Promise<void> {
    const { number } = worker;
    let current = worker;
    let ends = 0; // in a row, each before `STABLE_AFTER`
    for (;;) {
      const how = await current.ended;
      if (this.#isEnding) return;
      if (this.#slots[number] === current) {
        // A worker that the system could not start does not count while another one serves: otherwise the service would
        // end although it works.
        const waitsForSystem = current.pid === undefined && !this.#isStarting && this.#isServing();
        if (!waitsForSystem) ends = performance.now() - current.startedAt < STABLE_AFTER ? ends + 1 : 0;
        this.#replaced++;
        this.#options.log.warn("worker_ended", { worker: number, pid: current.pid, how });
        if (ends === MAX_ENDS) return this.#giveUp(number, how);
        const pause = waitsForSystem ? START_PAUSE : ends > 1 ? FIRST_PAUSE * 2 ** (ends - 2) : 0;
        if (pause > 0) await Promise.race([Bun.sleep(pause), this.#end.promise]);
        if (this.#isEnding) return;
      }
      if (this.#slots[number] === current) this.#slots[number] = this.#spawn(number);
      else ends = 0; // a rolling restart has replaced it
      current = this.#slots[number] as WorkerProcess;
    }
  }

  #isServing(): boolean {
    return [...this.#running].some(({ isReady }) => isReady);
  }

  async #allReady(): Promise<void> {
    const notReady = () => this.#slots.slice(1).find(({ isReady }) => !isReady);
    for (let worker = notReady(); worker && !this.#isEnding; worker = notReady()) {
      await worker.ready;
      if (!worker.isReady) await Bun.sleep(1); // until its slot has another worker
    }
  }

  /** Replaces all workers as often as wanted. */
  async #replaceAll(): Promise<void> {
    this.#isRestarting = true;
    while (this.#isRestartWanted && !this.#isEnding) {
      this.#isRestartWanted = false;
      await this.#replaceEach();
    }
    this.#isRestarting = false;
  }

  async #replaceEach(): Promise<void> {
    const { log, workers } = this.#options;
    log.info("restart_started");
    for (let number = 1; number <= workers; number++) {
      const next = this.#spawn(number);
      const at = await next.ready;
      if (this.#isEnding) return;
      if (!at) {
        const error = new WorkersFailed(`The new worker ${number} ended before it could serve, ${await next.ended}.`);
        return log.error("restart_failed", error);
      }
      const old = this.#slots[number] as WorkerProcess;
      this.#slots[number] = next;
      await old.stop();
      if (this.#isEnding) return;
    }
    log.info("restart_finished");
  }

  #giveUp(number: number, how: string): void {
    this.#failure = new WorkersFailed(
      `Worker ${number} ended ${MAX_ENDS} times in a row, each time within ${STABLE_AFTER / 1000} s of its start, the last ` +
        `time ${how}. The service ends. The worker's own output, above, says why.`,
    );
    this.#options.log.error("worker_given_up", this.#failure, { worker: number });
    this.#endAll();
  }

  #endAll(): void {
    this.#isEnding = true;
    this.#end.resolve();
  }
}
