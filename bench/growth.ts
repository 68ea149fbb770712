import { join } from "node:path";
import { CONNECTIONS, startFleet, stopFleet } from "./fleet.ts";
import { type RunningServer, type ServerName } from "./peers.ts";
import type { Dialect } from "./requests.ts";
import { firstPage, gets, pageAfter } from "./requests.ts";
import { alternate, type Contestant, contestant, median, type Series } from "./rounds.ts";
import { seedStore, UNLIMITED } from "./seed.ts";
import { figure } from "./svg.ts";
import { type Bench, type Findings, ratios, type Target, type Workload } from "./workload.ts";
import { type LoadedServer, type Request, writeLoad } from "./wrk.ts";

/** The reads that are measured on stores of all sizes. Pages in the middle and at the end are a hundred each. */
export const growthReads: Record<string, (dialect: Dialect) => Request[]> = {
  get: gets,
  "first page": firstPage,
  "page in the middle": (dialect) => pagesAround(dialect, dialect.animals / 2),
  "page at the end": (dialect) => pagesAround(dialect, dialect.animals - 200),
};

/** A minimal program. Its single animals show what the runtime and SQLite alone lose on larger stores. */
const PEER: ServerName = "Bun.serve with SQLite";

export const growth: Workload = {
  name: "growth",
  title: "Grow",
  description:
    "Reads from stores of different sizes: single animals from all of the store, the first page of 20 available ones, " +
    "a hundred pages from its middle and a hundred near its end. One instance of the service for each size, 64 " +
    "connections. *Bun.serve with SQLite* reads single animals from the same stores, and shows what the runtime and " +
    "SQLite alone lose.",
  inShort: false,
  chart: "p99",
  run: async (bench: Bench): Promise<Findings> => {
    const { options, folder } = bench;
    const names: readonly ServerName[] = options.effort.contextRounds > 0 ? ["service", PEER] : ["service"];
    const sized: SizedServer<RunningServer>[] = [];
    const peers: SizedServer<RunningServer>[] = [];
    for (const animals of options.effort.growth) {
      const store = seedStore(folder, `seed-${animals}`, animals, [UNLIMITED]);
      const place = { ...bench, folder: join(folder, String(animals)) };
      const { servers } = await startFleet(place, store, names);
      const key = store.keys[0] ?? "";
      for (const server of servers) (server.name === PEER ? peers : sized).push({ animals, server, key });
    }
    const series = await compareSizes(bench, sized, peers);
    await stopFleet(bench, { servers: [...sized, ...peers].map(({ server }) => server) });
    return { series, notes: peers.length > 0 ? [peerNote(series)] : [] };
  },
  targets: Object.keys(growthReads).map((read) => growthTarget(read, "p99")),
};

/** A server with a store of some size. */
export interface SizedServer<S> {
  readonly animals: number;
  readonly server: S;
  readonly key: string;
}

/**
 * Measures each kind of read on each server, in alternating rounds, and single animals on each peer. The peers have as many
 * rounds as the servers, because their ratios are compared.
 */
export function compareSizes(
  bench: Bench,
  sized: readonly SizedServer<MeasuredServer>[],
  peers: readonly SizedServer<MeasuredServer>[] = [],
): Promise<Series[]> {
  const reads = Object.entries(growthReads).flatMap(([read, requests]) => sizesOf(bench, read, requests, sized));
  return alternate([...reads, ...sizesOf(bench, PEER, gets, peers)]);
}

type MeasuredServer = LoadedServer & { readonly dialect: Dialect };

/** Contestants that differ only in the size of their store. */
function sizesOf(
  { options, processes, folder }: Bench,
  name: string,
  requests: (dialect: Dialect) => readonly Request[],
  sized: readonly SizedServer<MeasuredServer>[],
): Contestant[] {
  return sized.map(({ animals, server, key }) => {
    const file = join(folder, `${name.replaceAll(/\W/g, "-")}-${animals}.txt`);
    const load = writeLoad(file, requests(server.dialect), key, CONNECTIONS);
    return contestant(seriesName(name, animals), processes, server, load, options.effort);
  });
}

/** What a response of the largest store may take, compared with one of the smallest. */
export function growthTarget(read: string, measure: "p50" | "p99"): Target {
  return {
    text: `${read}: ${measure} ≤ 1.3 × from smallest to largest`,
    comparison: "at most",
    bound: 1.3,
    unit: "×",
    values: (findings) => {
      const of = findings.series.filter(({ name }) => name.startsWith(`${read}, `));
      const [smallest, largest] = [of[0]?.name ?? "", of.at(-1)?.name ?? ""];
      return ratios(findings, measure, largest, smallest);
    },
  };
}

function peerNote(series: readonly Series[]): string {
  const values = growthTarget(PEER, "p99").values({ series, notes: [] });
  return `${PEER}: p99 ${figure(median(values))} × from smallest to largest.`;
}

function seriesName(name: string, animals: number): string {
  return `${name}, ${animals.toLocaleString("en")} animals`;
}

function pagesAround(dialect: Dialect, middle: number): Request[] {
  return Array.from({ length: 100 }, (_, index) => pageAfter(dialect, Math.floor(middle) - 50 + index));
}
