import type { Clock } from "../timing/clock.ts";
import { settlesWhileRunning } from "../timing/waiting.ts";
import type { WebContent } from "./response/web-content.ts";

/** How long the store may take to respond to the check while this process is not blocked, in milliseconds. */
const CHECK_DEADLINE = 2_000;
/** How long a result is reused, in milliseconds. Each check writes to the disk, and anyone may request it. */
const KNOWN_FOR = 1_000;

export interface MonitoringOptions {
  /** Rejects if the store is unavailable. */
  readonly checkStore: () => Promise<void>;
  readonly isStopping: () => boolean;
  /** All metrics, in the text format of Prometheus. */
  readonly metrics: () => string;
  readonly clock: Clock;
}

/** The pages for monitoring. None needs a key. */
export function monitoringContent({
  checkStore,
  isStopping,
  metrics,
  clock,
}: MonitoringOptions): [string, WebContent][] {
  const readiness = new Readiness(checkStore, clock);
  const headers = { "Cache-Control": "no-store" };
  return [
    ["/healthz", { type: "application/json", headers, content: () => ({ body: '{"status":"ok"}' }) }],
    [
      "/readyz",
      {
        type: "application/json",
        headers,
        content: async () => {
          const problem = isStopping() ? "stopping" : await readiness.problem();
          return { status: problem ? 503 : 200, body: JSON.stringify({ status: problem ?? "ready" }) };
        },
      },
    ],
    ["/metrics", { type: "text/plain; version=0.0.4; charset=utf-8", headers, content: () => ({ body: metrics() }) }],
  ];
}

/** Checks whether the store is available, at most once a second. */
class Readiness {
  readonly #checkStore: () => Promise<void>;
  readonly #clock: Clock;
  #checking: Promise<string | undefined> | undefined;
  #problem: string | undefined;
  #knownAt = Number.NEGATIVE_INFINITY;

  constructor(checkStore: () => Promise<void>, clock: Clock) {
    this.#checkStore = checkStore;
    this.#clock = clock;
  }

  /** The fault of the store; undefined if it works. */
  async problem(): Promise<string | undefined> {
    if (this.#clock.monotonic() - this.#knownAt < KNOWN_FOR) return this.#problem;
    const checking = (this.#checking ??= this.#check());
    return (await settlesWhileRunning(checking, CHECK_DEADLINE)) ? checking : "storage slow";
  }

  async #check(): Promise<string | undefined> {
    this.#problem = await this.#checkStore().then(
      () => undefined,
      () => "storage unavailable",
    );
    this.#knownAt = this.#clock.monotonic();
    this.#checking = undefined;
    return this.#problem;
  }
}
