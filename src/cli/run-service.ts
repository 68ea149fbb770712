import { App, type AppOptions } from "../app.ts";
import { claimStore, type ServingClaim } from "../store.ts";
import type { Given, Terminal } from "./command.ts";

interface ServiceOptions extends Pick<AppOptions, "log" | "metrics" | "shared"> {
  /** Called when requests are served. */
  readonly listening: (app: App) => void;
}

/** Runs the service in this process until it is told to stop. Rejects where another process serves the store alone. */
export async function runService(given: Given, terminal: Terminal, options: ServiceOptions): Promise<void> {
  const claim = claimStore(terminal.config);
  try {
    await runClaimed(claim, given, terminal, options);
  } finally {
    claim.release();
  }
}

async function runClaimed(
  claim: ServingClaim,
  { json }: Given,
  { config, print, stop }: Terminal,
  { listening, ...options }: ServiceOptions,
): Promise<void> {
  let fatal: Error | undefined;
  const stopped = Promise.withResolvers<void>();
  const onFatal = (error: Error) => {
    fatal ??= error;
    stopped.resolve();
  };
  let app: App;
  try {
    app = await App.start(config, { ...options, onFatal, stop });
  } catch (error) {
    if (stop.aborted) return; // who told it to stop need not know why it could not start
    throw error;
  }
  /** What is on disk is not known: no request may be served any more, and not even an orderly end may write. */
  const endIfFatal = () => {
    if (!fatal) return;
    app.log.closeAtOnce();
    throw fatal;
  };
  app.log.debug("settings", {
    ...config,
    database: config.database?.shown,
    valkey: config.valkey?.shown,
    traces: config.traces?.url,
    trustedProxies: config.trustedProxies.join(", "),
  });
  claim.announce(app.base);
  if (claim.failure)
    app.log.warn("a second process on the data folder would not be noticed", { error: claim.failure.message });
  const isNew = config.environment === "development" && !stop.aborted;
  const key = isNew ? await app.firstStart() : undefined;
  if (key) {
    const welcome = { key, address: app.base, docs: app.docs };
    print(json ? JSON.stringify(welcome) : welcomeText(welcome));
  }
  listening(app);
  if (stop.aborted) stopped.resolve();
  stop.addEventListener("abort", () => stopped.resolve());
  await stopped.promise;
  endIfFatal();
  app.log.info("stopping");
  await app.stop();
  endIfFatal();
}

function welcomeText({ key, address, docs }: { key: string; address: string; docs: string }): string {
  return `
Petstore is ready at ${address}

It has sample animals and an account on the Business plan. This is its API key; it is not shown again:

  ${key}

Try it:

  curl -H 'Authorization: Bearer ${key}' '${address}/pets?status=available'

Reference page: ${docs}
`;
}
