import { App, type AppOptions } from "../app/app.ts";
import { domains } from "../app/domains.ts";
import { claimStore, type ServingClaim } from "../app/open-storage.ts";
import type { Config } from "../config.ts";
import { settingsOf } from "../domains/domain.ts";
import type { Given } from "../terminal/command.ts";
import type { ProgramTerminal } from "./command.ts";

interface ServiceOptions extends Pick<AppOptions, "log" | "metrics" | "shared"> {
  /** Called when requests are served. */
  readonly listening: (app: App) => void;
}

/** Runs the service in this process until it is told to stop. Rejects where another process serves the store alone. */
export async function runService(given: Given, terminal: ProgramTerminal, options: ServiceOptions): Promise<void> {
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
  terminal: ProgramTerminal,
  { listening, ...options }: ServiceOptions,
): Promise<void> {
  const { config, print, stop } = terminal;
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
    declared: undefined,
    ...shownValues(config.declared),
    database: config.database?.shown,
    valkey: config.valkey?.shown,
    traces: config.traces?.url,
    security: config.security?.contacts.join(", "),
    trustedProxies: config.trustedProxies.join(", "),
  });
  claim.announce(app.base);
  if (claim.failure) app.log.warn("data_folder_not_locked", { reason: claim.failure.message });
  if (config.environment === "production" && config.baseUrl === undefined) {
    app.log.warn("base_url_not_set", { address: app.base });
  }
  const isNew = config.environment === "development" && !stop.aborted;
  const issued = isNew ? await app.firstStart() : undefined;
  if (issued) {
    const { key, record } = issued;
    const anotherKey = `${commandLine(terminal)} keys create --account ${record.accountId} --name laptop`;
    const welcome = { key, address: app.base, docs: app.docs, anotherKey };
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

/** The values of settings that domains declare and that hold no secret, as fields of the log: `reservationMinutes`. */
function shownValues(declared: Config["declared"]): Record<string, string> {
  const shown = Object.entries(settingsOf(domains)).filter(([, { isSecret }]) => !isSecret);
  return Object.fromEntries(shown.map(([name]) => [fieldName(name), String(declared[name])]));
}

function fieldName(setting: string): string {
  const words = setting.slice("PETSTORE_".length).toLowerCase();
  return words.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** What is typed before a command that is to work on the same data folder. */
function commandLine({ config, environment, invocation }: ProgramTerminal): string {
  if (!environment["PETSTORE_DATA_DIR"]) return invocation;
  return `PETSTORE_DATA_DIR='${config.dataDir.replaceAll("'", "'\\''")}' ${invocation}`;
}

interface Welcome {
  readonly key: string;
  readonly address: string;
  readonly docs: string;
  readonly anotherKey: string;
}

function welcomeText({ key, address, docs, anotherKey }: Welcome): string {
  return `
Petstore is ready at ${address}

It has sample animals and an account on the Business plan. This is its API key; it is not shown again:

  ${key}

Try it:

  curl -H 'Authorization: Bearer ${key}' '${address}/pets?status=available'

Make another key of the account:

  ${anotherKey}

Reference page: ${docs}
`;
}
