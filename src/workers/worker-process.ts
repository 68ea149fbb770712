import type { StopPhase } from "../http/server.ts";
import { settlesWithin } from "../timing/waiting.ts";
import { HEARTBEAT_INTERVAL, HeartbeatMonitor, processorWait } from "./heartbeat-monitor.ts";
import type { LineOutput } from "./line-output.ts";
import type { FromSupervisor, FromWorker, ListeningAt } from "./messages.ts";
import { Questions } from "./questions.ts";

/**
 * How long a worker may take to stop, in milliseconds: at most 12.5 s, and a second each to send traces and write its
 * log.
 */
const STOP_DEADLINE = 14_800;
/** How long a worker may take to send its metrics, in milliseconds. A slower one is left out. */
const METRICS_DEADLINE = 1_000;
/** How long the last lines of an ended worker may take to be written, in milliseconds. Nobody may be reading them. */
const OUTPUT_DEADLINE = 1_000;

/** How long a worker may be silent before it counts as hanging, in milliseconds. */
export interface SilenceLimits {
  /** Before it serves. Loading the program is slow on a small, busy machine. Other workers serve its clients. */
  readonly starting: number;
  readonly serving: number;
}

export interface WorkerOptions {
  readonly number: number;
  /** The command that starts it. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Receives the lines that it prints. */
  readonly output: LineOutput;
  /** Gathers the metrics of all workers. */
  readonly metricsOfAll: () => Promise<string>;
  /** Called when it reaches a phase of stopping. It waits there until `goOn` is called. */
  readonly onReached: (phase: StopPhase, goOn: () => void) => void;
  readonly silence: SilenceLimits;
  /** Called before it is killed because it was silent for this many milliseconds. */
  readonly onHang: (silence: number) => void;
}

type Child = Bun.Subprocess<"ignore", "pipe", "inherit">;

/** The supervisor's view of one worker. */
export class WorkerProcess {
  readonly number: number;
  readonly startedAt = performance.now();
  readonly #ready = Promise.withResolvers<ListeningAt | undefined>();
  /** The address at which it serves; undefined if it ends before. */
  readonly ready = this.#ready.promise;
  /** How it ended, in words, also if it could not be started. */
  readonly ended: Promise<string>;
  readonly #options: WorkerOptions;
  readonly #monitor: HeartbeatMonitor;
  #isReady = false;
  /** Undefined if it could not be started. */
  readonly #child: Child | undefined;
  readonly #questions = new Questions();

  constructor(options: WorkerOptions) {
    const { number, command, environment, output, silence, onHang } = options;
    this.#options = options;
    this.number = number;
    const monitor = new HeartbeatMonitor(silence.starting, this.startedAt);
    this.#monitor = monitor;
    let child: Child;
    try {
      child = Bun.spawn([...command], {
        env: environment,
        stdin: "ignore",
        stdout: "pipe",
        stderr: "inherit",
        serialization: "json",
        ipc: (message: FromWorker) => this.#receive(message),
      });
    } catch (error) {
      // The program on disk is being replaced, or the system allows no more processes.
      this.#ready.resolve(undefined);
      this.ended = Promise.resolve(`because it could not be started: ${String(error)}`);
      return;
    }
    this.#child = child;
    const watch = setInterval(() => {
      if (!monitor.check(performance.now(), processorWait(child.pid))) return;
      clearInterval(watch);
      onHang(monitor.limit);
      child.kill("SIGKILL");
    }, HEARTBEAT_INTERVAL);
    const copied = output.copy(child.stdout).catch(() => {}); // if it cannot be read, only lines of the log are lost
    this.ended = child.exited.then(async (status) => {
      clearInterval(watch);
      this.#isReady = false;
      this.#ready.resolve(undefined);
      await settlesWithin(copied, OUTPUT_DEADLINE);
      return child.signalCode ? `by ${child.signalCode}` : `with status ${status}`;
    });
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** True while it reports that it serves. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** The worker's metrics as Prometheus text; undefined if it does not respond. */
  metrics(): Promise<string | undefined> {
    return this.#questions.ask((question) => this.#send({ kind: "expose metrics", question }), METRICS_DEADLINE);
  }

  /** Asks the worker to finish and stop. Resolves when it has ended. A worker that takes too long is killed. */
  async stop(): Promise<void> {
    const late = setTimeout(() => this.#child?.kill("SIGKILL"), STOP_DEADLINE);
    this.#send({ kind: "stop" });
    await this.ended;
    clearTimeout(late);
  }

  #receive(message: FromWorker): void {
    const { silence, metricsOfAll, onReached } = this.#options;
    this.#monitor.heard();
    switch (message.kind) {
      case "alive":
        return;
      case "ready":
        this.#isReady = true;
        this.#monitor.limit = silence.serving;
        return this.#ready.resolve(message.at);
      case "wants metrics":
        return void this.#answer(message.question, metricsOfAll());
      case "reached":
        return onReached(message.stage, () => this.#send({ kind: "go on", question: message.question }));
      case "own metrics":
        return this.#questions.answer(message.question, message.text);
    }
  }

  async #answer(question: number, metrics: Promise<string>): Promise<void> {
    this.#send({ kind: "metrics of all", question, text: await metrics });
  }

  #send(message: FromSupervisor): void {
    try {
      this.#child?.send(message);
    } catch {
      // It has ended; the waiting code learns that.
    }
  }
}
