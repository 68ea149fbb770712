import { join } from "node:path";
import { CONNECTIONS, compareServers, startFleet, stopFleet } from "./fleet.ts";
import type { ServerName } from "./peers.ts";
import type { Dialect } from "./requests.ts";
import { creates, gets, mixed } from "./requests.ts";
import { alternate, contestant } from "./rounds.ts";
import { seedStore, UNLIMITED } from "./seed.ts";
import { type Bench, type Findings, ratioTarget, type Workload } from "./workload.ts";
import { type Request, runWrk, writeLoad } from "./wrk.ts";

const ANIMALS = 100_000;
const mixedServers: readonly ServerName[] = ["service", "Fastify", "Hono", "json-server", "Prism"];
const forCreates: readonly ServerName[] = [
  "service",
  "Fastify",
  "Hono",
  "reading Bun.serve",
  "Bun.serve with SQLite",
  "json-server",
  "Prism",
];

async function compareWrites(
  bench: Bench,
  requests: (dialect: Dialect) => readonly Request[],
  connections: number,
  names = mixedServers,
): Promise<Findings> {
  const store = seedStore(bench.folder, "seed", ANIMALS, [UNLIMITED]);
  const fleet = await startFleet(bench, store, names);
  const series = await compareServers(bench, fleet, requests, connections);
  await stopFleet(bench, fleet);
  return { series, notes: fleet.notes };
}

export const mixedLoad: Workload = {
  name: "mixed",
  title: "Nine reads to one create",
  description:
    "64 connections; of ten requests six read an animal, three the first page of available ones, one adds an animal.",
  inShort: true,
  chart: "rate",
  run: (bench) => compareWrites(bench, mixed, CONNECTIONS),
  targets: [ratioTarget("≥ 3 × Fastify", "at least", 3, ["rate", "service", "Fastify"])],
};

export const create: Workload = {
  name: "create",
  title: "Add animals",
  description:
    "`POST /v1/pets`, 64 connections. The service, Fastify, Hono and *Bun.serve with SQLite* write the event in the " +
    "same transaction and answer after the commit is on disk; the others promise no such thing. Only the service and " +
    "*Bun.serve with SQLite* add the animals of one turn together.",
  inShort: true,
  chart: "rate",
  run: (bench) => compareWrites(bench, creates, CONNECTIONS, forCreates),
  targets: [
    ratioTarget("CPU time ≤ 2.2 × that of a reading Bun.serve", "at most", 2.2, [
      "cost",
      "service",
      "reading Bun.serve",
    ]),
    // The lead grows with the time that a sync takes, which only the service shares between creates. Judged
    // by the target for slower syncs.
    ratioTarget("≥ 12 × Fastify at `synchronous=FULL` (8 × where a sync takes 0.1 ms)", "at least", 12, [
      "rate",
      "service",
      "Fastify",
    ]),
  ],
};

export const createAlone: Workload = {
  name: "single-create",
  title: "Add animals one after another",
  description:
    "`POST /v1/pets` on 1 connection: nobody to share a commit with. *Bun.serve with SQLite* shows what the runtime and " +
    "SQLite alone take.",
  inShort: true,
  chart: "p50",
  run: (bench) => compareWrites(bench, creates, 1, ["service", "Fastify", "Bun.serve with SQLite"]),
  targets: [ratioTarget("p50 no worse than Fastify", "at most", 1, ["p50", "service", "Fastify"])],
};

export const readsAmongCreates: Workload = {
  name: "reads-among-creates",
  title: "Read while others write",
  description:
    "`GET /v1/pets/{id}` on 64 connections, alone and while another 64 connections add animals as fast as they can. " +
    "Shown are the reads.",
  inShort: true,
  chart: "p99",
  run: async (bench) => {
    const { options, processes, folder } = bench;
    const store = seedStore(folder, "seed", ANIMALS, [UNLIMITED]);
    const fleet = await startFleet(bench, store, ["service", "Fastify"]);
    const key = store.keys[0] ?? "";
    const series = await alternate(
      fleet.servers.flatMap((server) => {
        const reads = writeLoad(join(folder, `${server.name}-reads.txt`), gets(server.dialect), key, CONNECTIONS);
        const writes = writeLoad(join(folder, `${server.name}-writes.txt`), creates(server.dialect), key, CONNECTIONS);
        const alone = contestant(`${server.name}, reads alone`, processes, server, reads, options.effort);
        const { seconds } = options.effort;
        const run = async () => {
          // A second more, so that there are writes until the last read.
          const writing = runWrk(processes, server, writes, seconds + 1);
          const [round] = await Promise.all([runWrk(processes, server, reads, seconds), writing]);
          return round;
        };
        return [alone, { ...alone, name: `${server.name}, among creates`, run }];
      }),
    );
    await stopFleet(bench, fleet);
    return { series, notes: fleet.notes };
  },
  targets: [
    ratioTarget("p99 ≤ 2 × reads alone", "at most", 2, ["p99", "service, among creates", "service, reads alone"]),
  ],
};
