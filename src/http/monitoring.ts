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
  const storeProblem = readinessOf(checkStore, clock);
  const headers = { "Cache-Control": "no-store" };
  return [
    ["/healthz", { type: "application/json", headers, content: () => ({ body: '{"status":"ok"}' }) }],
    [
      "/readyz",
      {
        type: "application/json",
        headers,
        content: async () => {
          const problem = isStopping() ? "stopping" : await storeProblem();
          return { status: problem ? 503 : 200, body: JSON.stringify({ status: problem ?? "ready" }) };
        },
      },
    ],
    ["/metrics", { type: "text/plain; version=0.0.4; charset=utf-8", headers, content: () => ({ body: metrics() }) }],
  ];
}

/**
 * Returns a function that checks whether the store is available, at most once a second. It resolves to the fault of the
 * store; undefined if it works.
 */
function readinessOf(checkStore: () => Promise<void>, clock: Clock): () => Promise<string | undefined> {
  let checking: Promise<string | undefined> | undefined;
  let problem: string | undefined;
  let knownAt = Number.NEGATIVE_INFINITY;
  const check = async () => {
    problem = await checkStore().then(
      () => undefined,
      () => "storage unavailable",
    );
    knownAt = clock.monotonic();
    checking = undefined;
    return problem;
  };
  return async () => {
    if (clock.monotonic() - knownAt < KNOWN_FOR) return problem;
    const current = (checking ??= check());
    return (await settlesWhileRunning(current, CHECK_DEADLINE)) ? current : "storage slow";
  };
}
