import { join } from "node:path";
import { CONNECTIONS, startFleet, stopFleet } from "./fleet.ts";
import { type Dialect, type RunningServer } from "./peers.ts";
import { firstPage, gets, pageAfter } from "./requests.ts";
import { alternate, contestant, type Series } from "./rounds.ts";
import { seedStore, UNLIMITED } from "./seed.ts";
import { type Bench, type Findings, ratios, type Target, type Workload } from "./workload.ts";
import { type LoadedServer, type Request, writeLoad } from "./wrk.ts";

/** The reads that are measured on stores of all sizes. Pages in the middle and at the end are a hundred each. */
export const growthReads: Record<string, (dialect: Dialect) => Request[]> = {
  get: gets,
  "first page": firstPage,
  "page in the middle": (dialect) => pagesAround(dialect, dialect.animals / 2),
  "page at the end": (dialect) => pagesAround(dialect, dialect.animals - 200),
};

export const growth: Workload = {
  name: "growth",
  title: "Grow",
  description:
    "Reads from stores of different sizes: single animals from all of the store, the first page of 20 available ones, " +
    "a hundred pages from its middle and a hundred near its end. The service alone, one instance for each size, 64 " +
    "connections.",
  inShort: false,
  chart: "p99",
  isServiceOnly: true,
  run: async (bench: Bench): Promise<Findings> => {
    const { options, folder } = bench;
    const sized: SizedServer<RunningServer>[] = [];
    for (const animals of options.effort.growth) {
      const store = seedStore(folder, `seed-${animals}`, animals, [UNLIMITED]);
      const place = { ...bench, folder: join(folder, String(animals)) };
      const { servers } = await startFleet(place, store, ["service"]);
      sized.push({ animals, server: servers[0] as RunningServer, key: store.keys[0] ?? "" });
    }
    const series = await compareSizes(bench, sized);
    await stopFleet(bench, { servers: sized.map(({ server }) => server) });
    return { series, notes: [] };
  },
  targets: Object.keys(growthReads).map((read) => growthTarget(read, "p99")),
};

/** A server with a store of some size. */
export interface SizedServer<S> {
  readonly animals: number;
  readonly server: S;
  readonly key: string;
}

/** Measures each kind of read on each server, in alternating rounds. */
export function compareSizes(
  { options, processes, folder }: Bench,
  sized: readonly SizedServer<LoadedServer & { dialect: Dialect }>[],
): Promise<Series[]> {
  const contestants = Object.entries(growthReads).flatMap(([read, requests], index) =>
    sized.map(({ animals, server, key }) => {
      const file = join(folder, `${index}-${animals}.txt`);
      const load = writeLoad(file, requests(server.dialect), key, CONNECTIONS);
      return contestant(seriesName(read, animals), processes, server, load, options.effort);
    }),
  );
  return alternate(contestants);
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

function seriesName(read: string, animals: number): string {
  return `${read}, ${animals.toLocaleString("en")} animals`;
}

function pagesAround(dialect: Dialect, middle: number): Request[] {
  return Array.from({ length: 100 }, (_, index) => pageAfter(dialect, Math.floor(middle) - 50 + index));
}
