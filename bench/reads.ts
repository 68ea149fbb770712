import { join } from "node:path";
import { CONNECTIONS, compareServers, startFleet, stopFleet } from "./fleet.ts";
import { type RunningServer, type ServerName, serverNames, startServer, unavailableReason } from "./peers.ts";
import type { Dialect } from "./requests.ts";
import { everyPage, firstPage, gets } from "./requests.ts";
import { alternate } from "./rounds.ts";
import { type SeededStore, seedStore, UNLIMITED } from "./seed.ts";
import { type Bench, type Findings, ratioTarget, type Workload } from "./workload.ts";
import { type Request, type Round, runWrk, writeLoad } from "./wrk.ts";

const ANIMALS = 100_000;
/** How long a freshly started server is warmed up, in seconds: until its runtime has compiled what is hot. */
const WARM_UP = 3;

/** Puts one kind of read on all servers. */
async function compareReads(bench: Bench, requests: (dialect: Dialect) => readonly Request[]): Promise<Findings> {
  const store = seedStore(bench.folder, "seed", ANIMALS, [UNLIMITED]);
  const fleet = await startFleet(bench, store, serverNames);
  const series = await compareServers(bench, fleet, requests);
  await stopFleet(bench, fleet);
  return { series, notes: fleet.notes };
}

export const getAnimal: Workload = {
  name: "get",
  title: "Read one animal",
  description: "`GET /v1/pets/{id}`, 64 connections, ids spread over 100,000 animals, each requested once per pass.",
  inShort: true,
  chart: "rate",
  run: (bench) => compareReads(bench, gets),
  targets: [
    ratioTarget("≥ 0.75 × a reading Bun.serve", "at least", 0.75, ["rate", "service", "reading Bun.serve"]),
    ratioTarget("≥ 0.58 × a bare Bun.serve", "at least", 0.58, ["rate", "service", "bare Bun.serve"]),
    ratioTarget("≥ 3.5 × Fastify", "at least", 3.5, ["rate", "service", "Fastify"]),
  ],
};

export const hotPage: Workload = {
  name: "list-hot",
  title: "Read the first page",
  description: "`GET /v1/pets?limit=20&status=available`, 64 connections, always the same page.",
  inShort: true,
  chart: "rate",
  run: (bench) => compareReads(bench, firstPage),
  targets: [
    ratioTarget("≥ 0.60 × nginx with the same bytes", "at least", 0.6, ["rate", "service", "nginx"]),
    ratioTarget("ahead of Fastify", "at least", 1, ["rate", "service", "Fastify"]),
  ],
};

const coldServers: readonly ServerName[] = ["service", "Fastify", "Hono", "Bun.serve with SQLite"];

export const coldPages: Workload = {
  name: "list-cold",
  title: "Read pages that nobody has read before",
  description:
    "The same list with cursors after each of 100,000 animals, in no order. Each round has a freshly started " +
    "server, warmed up on pages of 19 animals, and asks for each page of 20 once. A round that runs out of pages " +
    "starts over; how often is shown as passes. json-server and Prism have no cursors.",
  inShort: true,
  chart: "rate",
  run: async (bench) => {
    const store = seedStore(bench.folder, "seed", ANIMALS, [UNLIMITED]);
    const names = coldServers.filter((name) => !unavailableReason(name));
    const { options, processes, folder } = bench;
    const model = await startServer("service", {
      processes,
      folder: join(folder, "model"),
      service: options.service,
      store,
    });
    const series = await alternate(
      names.map((name) => ({
        name,
        rounds: options.effort.rounds,
        warmUp: async () => {},
        run: () => freshRound(bench, store, name, model),
      })),
    );
    await processes.stop(model.process);
    const notes = coldServers.flatMap((name) => {
      const reason = unavailableReason(name);
      return reason ? [`${name} was left out: ${reason}.`] : [];
    });
    return { series, notes };
  },
  targets: [ratioTarget("≥ 3 × Fastify", "at least", 3, ["rate", "service", "Fastify"])],
};

/** Starts a server, warms it up on other pages of the list, and measures pages that it never saw. */
async function freshRound(bench: Bench, store: SeededStore, name: ServerName, model: RunningServer): Promise<Round> {
  const { options, processes, folder } = bench;
  const place = { processes, folder: join(folder, name), service: options.service, store, model };
  const server = await startServer(name, place);
  try {
    const key = store.keys[0] ?? "";
    await requireOwnCursors(server, key);
    const { dialect } = server;
    const pages = everyPage(dialect);
    const shorter = pages.map(({ method, path }) => ({ method, path: path.replace("limit=20", "limit=19") }));
    await runWrk(processes, server, writeLoad(join(folder, "warm-up.txt"), shorter, key, CONNECTIONS), WARM_UP);
    const load = writeLoad(join(folder, "pages.txt"), pages, key, CONNECTIONS);
    return await runWrk(processes, server, load, Math.min(2, options.effort.seconds));
  } finally {
    await processes.stop(server.process);
  }
}

/** The cursors are made here, not collected: they must be those that the server itself gives. */
async function requireOwnCursors({ name, url, dialect }: RunningServer, key: string): Promise<void> {
  const [{ path } = { path: "" }] = firstPage(dialect);
  const response = await fetch(url + path, { headers: { Authorization: `Bearer ${key}` } });
  const found = (await response.json()) as { id: number }[];
  const made = dialect.pageAfter?.(found.at(-1)?.id ?? 0);
  const link = response.headers.get("link") ?? "";
  if (!made || !link.includes(made)) throw new Error(`${name} has other cursors than ${made}: ${link}`);
}
