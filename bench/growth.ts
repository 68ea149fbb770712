import { join } from "node:path";
import { CONNECTIONS, startFleet, stopFleet } from "./fleet.ts";
import { type Bench, type Outcome, ratios, type Target, type Workload } from "./outcome.ts";
import { type Dialect, type RunningServer } from "./peers.ts";
import { firstPage, gets, pageAfter } from "./requests.ts";
import { alternate, contestant } from "./rounds.ts";
import { seedStore, UNLIMITED } from "./seed.ts";
import { type Request, writeLoad } from "./wrk.ts";

/** What is asked of stores of all sizes. Pages in the middle and at the end are a hundred each. */
const questions: Record<string, (dialect: Dialect) => Request[]> = {
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
  run: async (bench: Bench): Promise<Outcome> => {
    const { options, processes, folder } = bench;
    const sized: { animals: number; server: RunningServer; key: string }[] = [];
    for (const animals of options.effort.growth) {
      const store = seedStore(folder, `seed-${animals}`, animals, [UNLIMITED]);
      const place = { ...bench, folder: join(folder, String(animals)) };
      const { servers } = await startFleet(place, store, ["service"]);
      sized.push({ animals, server: servers[0] as RunningServer, key: store.keys[0] ?? "" });
    }
    const contestants = Object.entries(questions).flatMap(([question, requests], index) =>
      sized.map(({ animals, server, key }) => {
        const file = join(folder, `${index}-${animals}.txt`);
        const load = writeLoad(file, requests(server.dialect), key, CONNECTIONS);
        return contestant(seriesName(question, animals), processes, server, load, options.effort);
      }),
    );
    const series = await alternate(contestants);
    await stopFleet(bench, { servers: sized.map(({ server }) => server) });
    return { series, notes: [] };
  },
  targets: Object.keys(questions).map(growthTarget),
};

function growthTarget(question: string): Target {
  return {
    text: `${question}: p99 ≤ 1.3 × from smallest to largest`,
    sense: "at most",
    bound: 1.3,
    unit: "×",
    values: (outcome) => {
      const of = outcome.series.filter(({ name }) => name.startsWith(`${question}, `));
      const [smallest, largest] = [of[0]?.name ?? "", of.at(-1)?.name ?? ""];
      return ratios(outcome, "p99", largest, smallest);
    },
  };
}

function seriesName(question: string, animals: number): string {
  return `${question}, ${animals.toLocaleString("en")} animals`;
}

function pagesAround(dialect: Dialect, middle: number): Request[] {
  return Array.from({ length: 100 }, (_, index) => pageAfter(dialect, Math.floor(middle) - 50 + index));
}
