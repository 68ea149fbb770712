import type { LineOutput } from "./line-output.ts";
import { BEAT, type FromSupervisor, type FromWorker, type ListeningAt } from "./messages.ts";
import { Questions } from "./questions.ts";

/** How long a worker may take to stop, in milliseconds: a little longer than it gives itself. */
const STOP_DEADLINE = 14_500;
/** How long it may take to tell its metrics, in milliseconds. One that takes longer is left out. */
const METRICS_DEADLINE = 1_000;

/** For so many looks, `BEAT` apart, a worker may say nothing. */
export interface Silence {
  /** Before its first word, which it says when its program is loaded. */
  readonly atFirst: number;
  readonly later: number;
}

export interface WorkerOptions {
  readonly number: number;
  /** The words that start it. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where its lines go. */
  readonly output: LineOutput;
  /** Gathers the metrics of all workers. */
  readonly metricsOfAll: () => Promise<string>;
  /** How long it may say nothing, and what is called when it has been silent for longer. It is then ended. */
  readonly silence: Silence & { readonly tell: (looks: number) => void };
}

/** One worker, seen from its supervisor. */
export class WorkerProcess {
  readonly number: number;
  readonly startedAt = performance.now();
  /** Where it serves; undefined if it ends before it does. */
  readonly ready: Promise<ListeningAt | undefined>;
  /** How it ended, in words. */
  readonly ended: Promise<string>;
  #isReady = false;
  /** Looks since it was started or heard of last. */
  #silentFor = 0;
  readonly #child: Bun.Subprocess<"ignore", "pipe", "inherit">;
  readonly #questions = new Questions();

  constructor({ number, command, environment, output, metricsOfAll, silence }: WorkerOptions) {
    this.number = number;
    let longestSilence = silence.atFirst;
    const ready = Promise.withResolvers<ListeningAt | undefined>();
    this.ready = ready.promise;
    this.#child = Bun.spawn([...command], {
      env: environment,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
      serialization: "json",
      ipc: (message: FromWorker) => {
        this.#silentFor = 0;
        longestSilence = silence.later;
        if (message.kind === "alive") return;
        if (message.kind === "own metrics") this.#questions.answer(message.question, message.text);
        else if (message.kind === "wants metrics") void this.#answer(message.question, metricsOfAll());
        else {
          this.#isReady = true;
          ready.resolve(message.at);
        }
      },
    });
    // Looks are counted, not time: of an hour in which this process was stopped, or the machine asleep, one look remains.
    const watch = setInterval(() => {
      if (++this.#silentFor <= longestSilence) return;
      clearInterval(watch);
      silence.tell(longestSilence);
      this.#child.kill("SIGKILL");
    }, BEAT);
    const copied = output.copy(this.#child.stdout);
    this.ended = this.#child.exited.then(async (status) => {
      clearInterval(watch);
      this.#isReady = false;
      ready.resolve(undefined);
      await copied;
      return this.#child.signalCode ? `by ${this.#child.signalCode}` : `with status ${status}`;
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** True while it serves, as far as it has told. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** What it counts itself, as text for Prometheus; undefined if it does not say. */
  metrics(): Promise<string | undefined> {
    return this.#questions.ask((question) => this.#send({ kind: "expose metrics", question }), METRICS_DEADLINE);
  }

  /** Has it finish what it does. Resolves when it has ended, which one that takes too long is made to. */
  async stop(): Promise<void> {
    const late = setTimeout(() => this.#child.kill("SIGKILL"), STOP_DEADLINE);
    this.#send({ kind: "stop" });
    await this.ended;
    clearTimeout(late);
  }

  async #answer(question: number, metrics: Promise<string>): Promise<void> {
    this.#send({ kind: "metrics of all", question, text: await metrics });
  }

  #send(message: FromSupervisor): void {
    try {
      this.#child.send(message);
    } catch {
      // It has ended; whoever waits for it is told so.
    }
  }
}
