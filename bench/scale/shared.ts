import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../test/harness/free-port.ts";
import type { Bench, Result } from "../embedded.ts";
import { keyOf, type Load, requestsOf } from "../loads.ts";
import { frameworkDialect, PEERS, PRODUCTION, serviceDialect, untilItResponds } from "../peers.ts";
import { ALL_CORES, cpuTime, type Environment, processTree } from "../processes.ts";
import type { Dialect } from "../requests.ts";
import { requireSameAnswers } from "../same-answers.ts";
import { alternate, type LoadedServer } from "../wrk.ts";
import { Backends, type SharedStore, sumOf } from "./backends.ts";

const ON_ONE_PORT = join(import.meta.dir, "on-one-port.ts");
const ANIMALS = 100_000;
const PROCESSES = [1, 2];
/** By how much the service must be ahead of Fastify, in CPU time per response and in responses per second. */
const LEAD = 3;

export type ServerKind = "service" | "Fastify";

/** A number of processes behind one port. */
export interface SharedServer extends LoadedServer {
  readonly name: string;
  readonly dialect: Dialect;
}

function nameOf(kind: ServerKind, processes: number): string {
  return processes === 1 ? kind : `${kind}, ${processes} processes`;
}

/** Starts a server with this number of processes, and waits until all have started. */
export async function startSharedServer(
  { processes: running, folder, service }: Pick<Bench, "processes" | "folder" | "service">,
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
  const { database, valkey } = backends.addressesOf(store);
  const program = ["src/main.ts", "serve"];
  const { command, cwd, env } = {
    service: {
      command: [process.execPath, ...(processes === 1 ? program : [ON_ONE_PORT, String(processes), ...program])],
      cwd: service,
      env: {
        ...PRODUCTION,
        PETSTORE_DATA_DIR: own,
        PETSTORE_PORT: String(port),
        PETSTORE_DATABASE_URL: database,
        PETSTORE_VALKEY_URL: valkey,
        ...settings,
      },
    },
    Fastify: {
      command: ["node", "fastify-pg/server.mjs"],
      cwd: PEERS,
      env: { PORT: String(port), PROCESSES: String(processes), DATABASE_URL: database, VALKEY_URL: valkey },
    },
  }[kind];
  const dialect = kind === "service" ? serviceDialect(store.animals) : frameworkDialect(store.animals);
  const errors = join(own, "errors.txt");
  const child = running.start(ALL_CORES, command, { cwd, env, errors });
  const url = `http://127.0.0.1:${port}`;
  await untilItResponds({ name, process: child, url }, store.key, errors);
  const expected = processes === 1 ? 1 : processes + 1;
  while (processTree(child.pid).length < expected) await Bun.sleep(50);
  const meter = async () => ({
    "service µs": 1e6 * sumOf(processTree(child.pid).map(cpuTime)),
    ...(await backends.totals()),
  });
  return { name, process: child, url, dialect, meter };
}

/** Puts each load on the service and its peer, as one process and as two, each on its own copy of a store. */
export async function compareShared(
  bench: Bench,
  loads: readonly Load[],
  done: (result: Result) => void,
): Promise<void> {
  const { processes, folder, effort } = bench;
  const kinds = PROCESSES.flatMap((count) => (["service", "Fastify"] as const).map((kind) => ({ kind, count })));
  const backends = await Backends.start(processes, (kinds.length + 1) * ANIMALS);
  const seed = await backends.newStore(ANIMALS);
  const servers: SharedServer[] = [];
  for (const { kind, count } of kinds) {
    servers.push(await startSharedServer(bench, backends, await backends.copyOf(seed), kind, count));
  }
  await requireSameAnswers(servers, seed.key, seed.usedUp);
  for (const load of loads) {
    const contestants = servers.map((server) => ({
      name: server.name,
      server,
      key: keyOf(load, [seed.key, seed.usedUp]),
      requests: requestsOf(load, server.dialect),
      isRefused: load.refusedKey !== undefined,
    }));
    const series = await alternate(processes, folder, effort, contestants);
    done({ name: load.name, title: load.title, goal: { cpu: LEAD, rate: LEAD }, series });
  }
  await processes.stopAll();
}
