import type { Metrics } from "../telemetry/metrics.ts";
import type { Page } from "./pages.ts";

/** How long the store may take to prove that it is there, in milliseconds. */
const PROBE_DEADLINE = 2_000;

/** The pages for whoever watches over the service. None of them needs a key. */
export function healthPages(parts: {
  probe: () => Promise<void>;
  isStopping: () => boolean;
  metrics: Metrics;
}): [string, Page][] {
  const { probe, isStopping, metrics } = parts;
  const headers = { "Cache-Control": "no-store" };
  return [
    ["/healthz", { type: "application/json", headers, content: () => ({ body: '{"status":"ok"}' }) }],
    [
      "/readyz",
      {
        type: "application/json",
        headers,
        content: async () => {
          const problem = isStopping() ? "stopping" : await problemOf(probe);
          return { status: problem ? 503 : 200, body: JSON.stringify({ status: problem ?? "ready" }) };
        },
      },
    ],
    [
      "/metrics",
      { type: "text/plain; version=0.0.4; charset=utf-8", headers, content: () => ({ body: metrics.expose() }) },
    ],
  ];
}

async function problemOf(probe: () => Promise<void>): Promise<string | undefined> {
  let timer: Timer | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve("storage slow"), PROBE_DEADLINE);
  });
  const probed = probe().then(
    () => undefined,
    () => "storage unavailable",
  );
  const problem = await Promise.race([probed, late]);
  clearTimeout(timer);
  return problem;
}
