import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "../app/app.ts";
import { domains } from "../app/domains.ts";
import { claimStore, type ServingClaim } from "../app/store/serving-claim.ts";
import { baseSetting, configuredBase } from "../app/web/base-address.ts";
import { type Config, isProduction, readConfig } from "../config.ts";
import { settingsOf } from "../domains/domain.ts";
import { runtime, version } from "../telemetry/version.ts";
import { CommandFailed, type ParsedArguments } from "../terminal/command.ts";
import type { ProgramCommand, ProgramContext } from "./program-command.ts";

/** How long after the start the console is built, in milliseconds: requests that waited for the start come first. */
const PREPARE_CONSOLE_AFTER = 3_000;

export const serve: ProgramCommand = {
  name: "serve",
  summary: "Run the service until SIGTERM, SIGINT or SIGHUP.",
  example: "serve",
  description: "Several can share a store in PostgreSQL (PETSTORE_DATABASE_URL), each with its own PETSTORE_PORT.",
  options: {
    create: { meaning: "Create the embedded store if it is missing. Only production needs it." },
    temporary: { meaning: "For tests: without settings, on a free port, in a new folder that is deleted at the end." },
    attached: {
      meaning: "End when standard input ends, as it does in whatever way the program that started this ends.",
    },
  },
  run: async (given, context) => {
    const folder = given.options["temporary"] === undefined ? undefined : mkdtempSync(join(tmpdir(), "petstore-"));
    const stop = given.options["attached"] === undefined ? context.stop : untilInputEnds(context);
    const served = {
      ...context,
      stop,
      ...(folder && {
        environment: {},
        config: readConfig({ PETSTORE_DATA_DIR: folder, PETSTORE_PORT: "0" }, folder, settingsOf(domains)),
      }),
    };
    const claim = claimStore(served.config);
    try {
      await runClaimed(claim, given, served);
    } finally {
      claim.release();
      if (folder) rmSync(folder, { recursive: true });
    }
    return { json: { stopped: true }, text: "" };
  },
};

/** Is aborted by a signal, or when the standard input ends. */
function untilInputEnds({ input, stop }: ProgramContext): AbortSignal {
  const end = new AbortController();
  const read = async () => {
    for await (const _ of input()); // what it says does not matter
  };
  const ended = () => end.abort();
  read().then(ended, ended);
  return AbortSignal.any([stop, end.signal]);
}

/** Runs the service in this process until `stop` is aborted. */
async function runClaimed(
  claim: ServingClaim,
  { json, options: { create } }: ParsedArguments,
  context: ProgramContext,
): Promise<void> {
  const { config, print, stop } = context;
  let fatal: Error | undefined;
  const stopped = Promise.withResolvers<void>();
  const onFatal = (error: Error) => {
    fatal ??= error;
    stopped.resolve();
  };
  let app: App;
  try {
    const takeBackup = (ending: AbortSignal) => takeBackupInChild(context, ending);
    // A missing store of production is more likely lost, or its disk not mounted, than new. An empty database was made.
    const mayCreate = create !== undefined || !isProduction(config) || config.database !== undefined;
    app = await App.start(config, { create: mayCreate, onFatal, stop, takeBackup });
  } catch (error) {
    if (stop.aborted) return; // a failed start does not matter: the process was asked to stop
    throw error;
  }
  /** The state on disk is unknown: serve no more requests, and write nothing while ending. */
  const endIfFatal = () => {
    if (!fatal) return;
    app.log.closeAtOnce();
    throw fatal;
  };
  app.log.debug("settings", {
    ...config,
    declared: undefined,
    backups: config.backups.every === undefined ? undefined : config.backups.folder,
    ...shownValues(config.declared),
    database: config.database?.shown,
    valkey: config.valkey?.shown,
    traces: config.traces?.url,
    trustedProxies: config.trustedProxies.join(", "),
  });
  claim.announce(app.base, config.host, app.port);
  if (claim.failure) app.log.warn("data_folder_not_locked", { reason: claim.failure.message });
  if (config.environment !== "development" && configuredBase(config) === undefined) {
    app.log.warn("base_url_not_set", { setting: baseSetting(config), address: app.base });
  }
  const mayBeFirstStart = config.environment === "development" && !stop.aborted;
  const issued = mayBeFirstStart ? await app.firstStart() : undefined;
  if (issued) {
    const { key, record } = issued;
    const anotherKey = `${commandLine(context)} keys create --account ${record.accountId} --name laptop`;
    const console = `${app.docs.replace(/docs$/, "console")}#key=${key}`;
    const welcome: Welcome = { key, address: app.base, docs: app.docs, console, anotherKey };
    const ifLost = `An account and its key were created, but the key was not shown. Make another: ${anotherKey}`;
    print(json ? JSON.stringify(welcome) : welcomeText(welcome, config), ifLost);
  }
  app.log.info("listening", {
    address: app.base, // it may be a proxy's
    docs: app.docs,
    environment: config.environment,
    host: config.host,
    port: app.port,
    pid: process.pid,
    version,
    runtime,
    store: config.database ? "postgresql" : "sqlite",
    limits: config.valkey ? "valkey" : "memory",
  });
  const preparing = setTimeout(() => void app.prepareConsole(), PREPARE_CONSOLE_AFTER);
  if (stop.aborted) stopped.resolve();
  stop.addEventListener("abort", () => stopped.resolve());
  await stopped.promise;
  clearTimeout(preparing);
  endIfFatal();
  app.log.info("stopping");
  await app.stop();
  endIfFatal();
}

/** The settings of domains that are set and not secret, as fields of the log, such as `reservationMinutes`. */
function shownValues(declared: Config["declared"]): Record<string, string> {
  const shown = Object.entries(settingsOf(domains)).filter(
    ([name, { isSecret }]) => !isSecret && declared[name] !== undefined,
  );
  return Object.fromEntries(shown.map(([name]) => [fieldName(name), String(declared[name])]));
}

function fieldName(setting: string): string {
  const words = setting.slice("PETSTORE_".length).toLowerCase();
  return words.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** What to type before a command so that it uses the same data folder and cell. */
function commandLine({ config, environment, invocation }: ProgramContext): string {
  const { PETSTORE_DATA_DIR: folder, PETSTORE_CELL: cell } = environment;
  const set = { ...(folder && { PETSTORE_DATA_DIR: config.dataDir }), ...(cell && { PETSTORE_CELL: cell }) };
  const assigned = Object.entries(set).map(([name, value]) => `${name}='${value.replaceAll("'", "'\\''")}'`);
  return [...assigned, invocation].join(" ");
}

/** What a first start has made, and where it is; `console` signs in. */
type Welcome = Readonly<Record<"key" | "address" | "docs" | "console" | "anotherKey", string>>;

function welcomeText({ key, address, docs, console, anotherKey }: Welcome, { database }: Config): string {
  return `
Petstore is ready at ${address}

It has sample animals and an account on the Business plan. This is its API key; it is not shown again:

  ${key}

Open the console, signed in:

  ${console}

Try it:

  curl -H 'Authorization: Bearer ${key}' '${address}/pets?status=available'

Make another key of the account${database ? ", with the same PETSTORE_DATABASE_URL" : ""}:

  ${anotherKey}

Reference page: ${docs}
`;
}

/** Takes a backup in a child process: `petstore backups take`. Rejects with the error output of that process. */
async function takeBackupInChild(
  { program, environment, config }: Pick<ProgramContext, "program" | "environment" | "config">,
  stop: AbortSignal,
): Promise<void> {
  const child = Bun.spawn([...program, "backups", "take"], {
    env: { ...environment, PETSTORE_DATA_DIR: config.dataDir },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    signal: stop,
    killSignal: "SIGKILL", // not SIGTERM: the copy is one call to SQLite, during which the process does not handle signals
  });
  const [status, output] = await Promise.all([child.exited, child.stderr.text()]);
  if (status !== 0) throw new CommandFailed("backup_failed", output.trim() || `It ended with status ${status}.`);
}
