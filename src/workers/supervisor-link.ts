import type { StopPhase } from "../http/server.ts";
import { HEARTBEAT_INTERVAL } from "./heartbeat-monitor.ts";
import type { FromSupervisor, FromWorker, ListeningAt } from "./messages.ts";
import { Questions } from "./questions.ts";

/** How long the supervisor may take to gather the metrics of all workers, in milliseconds. */
const METRICS_DEADLINE = 2_000;

/** How long a stopping worker waits for the others to reach the same phase, in milliseconds. */
const PHASE_DEADLINE = 2_000;

/** The connection of a worker to its supervisor. */
export class SupervisorLink {
  /** Aborted when the worker must stop: on request, or because its supervisor has died. */
  readonly stop: AbortSignal;
  readonly #exposeOwn: () => string;
  readonly #questions = new Questions();

  /** The link of this process; undefined if no supervisor started it. `exposeOwn` returns the worker's metrics. */
  static open(exposeOwn: () => string): SupervisorLink | undefined {
    return process.send && process.connected ? new SupervisorLink(exposeOwn) : undefined;
  }

  private constructor(exposeOwn: () => string) {
    this.#exposeOwn = exposeOwn;
    const stop = new AbortController();
    this.stop = stop.signal;
    process.on("message", (message: FromSupervisor) => {
      if (message.kind === "stop") stop.abort();
      else this.#handle(message);
    });
    // A worker whose event loop is blocked sends no heartbeat, which reveals that it hangs.
    setInterval(() => this.#send({ kind: "alive" }), HEARTBEAT_INTERVAL).unref();
    process.on("disconnect", () => {
      // A supervisor that ends before its workers was killed, or had to end immediately.
      if (stop.signal.aborted) process.exit(1);
      stop.abort();
    });
  }

  /** Tells the supervisor that this worker serves. */
  ready(at: ListeningAt): void {
    this.#send({ kind: "ready", at });
  }

  /** The metrics of all workers; its own ones if the supervisor does not answer. */
  async metricsOfAll(): Promise<string> {
    const all = await this.#questions.ask(
      (question) => this.#send({ kind: "wants metrics", question }),
      METRICS_DEADLINE,
    );
    return all ?? this.#exposeOwn();
  }

  /** Resolves when all stopping workers have reached a phase, after 2 s, or immediately if the supervisor is gone. */
  async inStep(phase: StopPhase): Promise<void> {
    if (!process.connected) return;
    await this.#questions.ask((question) => this.#send({ kind: "reached", question, stage: phase }), PHASE_DEADLINE);
  }

  #handle(message: Exclude<FromSupervisor, { kind: "stop" }>): void {
    const { kind, question } = message;
    if (kind === "metrics of all") this.#questions.answer(question, message.text);
    else if (kind === "go on") this.#questions.answer(question, "");
    else this.#send({ kind: "own metrics", question, text: this.#exposeOwn() });
  }

  #send(message: FromWorker): void {
    if (process.connected) process.send?.(message);
  }
}
