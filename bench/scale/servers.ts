import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../test/harness/free-port.ts";
import { ALL_CORES } from "../machine.ts";
import type { Options } from "../options.ts";
import { frameworkDialect, PEERS, PRODUCTION, serviceDialect, untilItResponds } from "../peers.ts";
import { cpuTime, type Environment, processTree } from "../processes.ts";
import type { Dialect } from "../requests.ts";
import type { Bench } from "../workload.ts";
import type { LoadedServer } from "../wrk.ts";
import { type Backends, type SharedStore, sumOf } from "./backends.ts";

const ON_ONE_PORT = join(import.meta.dir, "on-one-port.ts");

export type ServerKind = "service" | "Fastify" | "Bun.serve with PostgreSQL";

/** A number of processes of one kind behind one port. */
export interface SharedServer extends LoadedServer {
  readonly name: string;
  readonly dialect: Dialect;
}

export function nameOf(kind: ServerKind, processes: number): string {
  return `${kind}, ${processes} process${processes === 1 ? "" : "es"}`;
}

/** The packages that each kind needs of those of the peers. */
const packagesOf: Record<ServerKind, readonly string[]> = {
  service: [],
  Fastify: ["pg", "@fastify/rate-limit", "ioredis"],
  "Bun.serve with PostgreSQL": ["ioredis"],
};

/** Why this kind of server cannot be started; undefined if it can. */
export function unavailableReason(kind: ServerKind): string | undefined {
  return packagesOf[kind].every((name) => existsSync(join(PEERS, "node_modules", name)))
    ? undefined
    : "its packages could not be installed";
}

/** Starts a server with this number of processes, and waits until all have started. */
export async function startSharedServer(
  { options, processes: running, folder }: Pick<Bench, "processes" | "folder"> & { options: Pick<Options, "service"> },
  backends: Backends,
  store: SharedStore,
  kind: ServerKind,
  processes: number,
  settings: Environment = {},
): Promise<SharedServer> {
  const name = nameOf(kind, processes);
  const own = join(folder, name.replaceAll(/\W/g, "-"));
  mkdirSync(own, { recursive: true });
  const port = freePort();
  const { command, cwd, env, dialect } = recipes[kind](port, processes, store, {
    ...backends.addressesOf(store),
    folder: own,
    service: options.service,
    settings,
  });
  const errors = join(own, "errors.txt");
  const process = running.start(ALL_CORES, command, { cwd, env, errors });
  const url = `http://127.0.0.1:${port}`;
  await untilItResponds({ name, process, url, dialect }, store.key, errors);
  const expected = processes === 1 ? 1 : processes + 1;
  while (processTree(process.pid).length < expected) await Bun.sleep(50);
  const meter = async () => ({
    "service µs": 1e6 * sumOf(processTree(process.pid).map(cpuTime)),
    ...(await backends.totals()),
  });
  return { name, process, url, dialect, meter };
}

interface ServerSetup {
  readonly database: string;
  readonly valkey: string;
  readonly folder: string;
  readonly service: string;
  /** Further settings of the server. */
  readonly settings: Environment;
}

interface Recipe {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Environment;
  readonly dialect: Dialect;
}

const recipes: Record<ServerKind, (port: number, processes: number, store: SharedStore, place: ServerSetup) => Recipe> =
  {
    service: (port, processes, { animals }, { database, valkey, folder, service, settings }) => {
      const program = ["src/main.ts", "serve"];
      return {
        command: [process.execPath, ...(processes === 1 ? program : [ON_ONE_PORT, String(processes), ...program])],
        cwd: service,
        env: {
          ...PRODUCTION,
          PETSTORE_DATA_DIR: folder,
          PETSTORE_PORT: String(port),
          PETSTORE_DATABASE_URL: database,
          PETSTORE_VALKEY_URL: valkey,
          ...settings,
        },
        dialect: serviceDialect(animals),
      };
    },
    Fastify: (port, processes, { animals }, place) => ({
      command: ["node", "fastify-pg/server.mjs"],
      cwd: PEERS,
      env: peerEnvironment(port, processes, place),
      dialect: frameworkDialect(animals),
    }),
    "Bun.serve with PostgreSQL": (port, processes, { animals }, place) => ({
      command: [process.execPath, "postgres-bun.mjs"],
      cwd: PEERS,
      env: peerEnvironment(port, processes, place),
      dialect: serviceDialect(animals),
    }),
  };

function peerEnvironment(port: number, processes: number, { database, valkey, settings }: ServerSetup): Environment {
  return {
    PORT: String(port),
    PROCESSES: String(processes),
    DATABASE_URL: database,
    VALKEY_URL: valkey,
    ...settings,
  };
}
