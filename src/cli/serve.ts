import { requireSharedStore } from "../app/store/serving-claim.ts";
import { Log } from "../telemetry/log.ts";
import { runtime, version } from "../telemetry/version.ts";
import { type ParsedArguments, type Report, UsageError } from "../terminal/command.ts";
import { LineOutput } from "../workers/line-output.ts";
import { reservePort } from "../workers/shared-port.ts";
import { Supervisor } from "../workers/supervisor.ts";
import type { ProgramCommand, ProgramContext } from "./program-command.ts";
import { runService } from "./run-service.ts";

const report: Report = { json: { stopped: true }, text: "" };
const MAX_WORKERS = 256;

export const serve: ProgramCommand = {
  name: "serve",
  summary: "Run the service until SIGTERM, SIGINT or SIGHUP.",
  example: "serve --workers 4",
  description:
    "With --workers, N processes share the port. SIGHUP replaces them one by one; requests in progress finish.\n" +
    "They need a shared store: PETSTORE_DATABASE_URL.",
  options: {
    create: { meaning: "Create the embedded store if it is missing. Only production needs it." },
    workers: { value: "N", meaning: "Number of processes (Linux only). Without it, one process." },
  },
  run: async (given, context) => {
    const workers = readWorkers(given);
    if (workers !== undefined) await supervise(workers, given, context);
    else {
      await runService(given, context, {
        listening: ({ base, docs, port, log }) => log.info("listening", listeningFields(context, base, docs, port)),
      });
    }
    return report;
  },
};

function readWorkers({ options: { workers } }: ParsedArguments): number | undefined {
  if (workers === undefined) return undefined;
  const number = Number(workers);
  if (/^[1-9][0-9]*$/.test(workers) && number <= MAX_WORKERS) return number;
  throw new UsageError(`--workers must be a whole number from 1 to ${MAX_WORKERS}.`);
}

async function supervise(workers: number, { json }: ParsedArguments, context: ProgramContext): Promise<void> {
  const { config, environment, program, stop, onHangup } = context;
  requireSharedStore(config);
  if (process.platform !== "linux") throw new UsageError("--workers needs Linux, which spreads connections over them.");
  const output = new LineOutput(context.output);
  const log = new Log(config.logLevel, (text) => output.write(text));
  const shared = reservePort(config.host, config.port);
  const supervisor = new Supervisor({
    workers,
    command: (number) => [...program, "worker", String(number), ...(json ? ["--json"] : [])],
    environment: { ...environment, PETSTORE_PORT: String(shared.port) },
    output,
    log,
    stop,
  });
  onHangup(() => supervisor.restart());
  try {
    const at = await supervisor.start();
    if (at) log.info("listening", { ...listeningFields(context, at.address, at.docs, shared.port), workers });
    await supervisor.ended();
  } finally {
    await log.close();
    shared.release();
  }
}

function listeningFields({ config }: ProgramContext, address: string, docs: string, port: number) {
  const { environment, host, database, valkey } = config;
  return {
    address, // it may be a proxy's
    docs,
    environment,
    host,
    port,
    pid: process.pid,
    version,
    runtime,
    store: database ? "postgresql" : "sqlite",
    limits: valkey ? "valkey" : "memory",
  };
}
