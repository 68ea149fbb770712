import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CONNECTIONS } from "./fleet.ts";
import { startServer } from "./peers.ts";
import type { Dialect } from "./requests.ts";
import { creates, everyPage, gets } from "./requests.ts";
import { seedStore, UNLIMITED } from "./seed.ts";
import type { Measurement, Workload } from "./workload.ts";
import { type Request, runWrk, writeLoad } from "./wrk.ts";

const ANIMALS = 100_000;
/** Files named for each load; the others are summed up. */
const NAMED = 8;

const loads: Record<string, (dialect: Dialect) => Request[]> = {
  "one animal": gets,
  "unread pages": everyPage,
  create: (dialect) => creates(dialect),
};

export const profile: Workload = {
  name: "profile",
  title: "Where the time goes",
  description:
    "The service under the profiler of its runtime: the share of its own time that each source file takes, with what " +
    "it calls in the runtime and in SQLite. The runtime's HTTP, its garbage collector and the kernel come on top. The " +
    "profiler slows the service down, calls into the runtime most, so these are no rates.",
  inShort: false,
  chart: "measurements",
  run: async ({ options, processes, folder }) => {
    const store = seedStore(folder, "seed", ANIMALS, [UNLIMITED]);
    const measurements: Measurement[] = [];
    for (const [index, [name, requests]] of Object.entries(loads).entries()) {
      const own = join(folder, String(index));
      const profiles = join(own, "profiles");
      mkdirSync(profiles, { recursive: true });
      const settings = { BUN_OPTIONS: `--cpu-prof --cpu-prof-dir=${profiles}` };
      const server = await startServer("service", {
        processes,
        folder: own,
        service: options.service,
        store,
        settings,
      });
      const load = writeLoad(join(own, "requests.txt"), requests(server.dialect), store.keys[0] ?? "", CONNECTIONS);
      await runWrk(processes, server, load, options.effort.warmUp + options.effort.seconds);
      await processes.stop(server.process);
      measurements.push(
        ...sharesOf(profiles, `${options.service}/src/`).map(([file, share]) => ({
          name: `${name}: ${file}`,
          unit: "%" as const,
          values: [share],
        })),
      );
    }
    return { series: [], measurements, notes: [] };
  },
  targets: [],
};

/** A profile as V8's tools and Bun write it. */
interface CpuProfile {
  readonly nodes: readonly { id: number; callFrame: { url: string }; children?: readonly number[] }[];
  readonly samples: readonly number[];
}

/**
 * The files with the most time, in percent. Each sample counts once, for the innermost frame that is in `source`. The
 * time between two samples does not count: where the process was idle, it is much longer than the work after it.
 */
function sharesOf(folder: string, source: string): [string, number][] {
  const [file = ""] = readdirSync(folder);
  const { nodes, samples } = JSON.parse(readFileSync(join(folder, file), "utf8")) as CpuProfile;
  const urls = new Map(nodes.map(({ id, callFrame }) => [id, callFrame.url]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const nameOf = (node: number): string => {
    const own = urls.get(node)?.split(source)[1];
    const parent = parents.get(node);
    if (own !== undefined) return own;
    return parent === undefined ? "the runtime itself" : nameOf(parent);
  };
  const counts = new Map<string, number>();
  for (const sample of samples) {
    const name = nameOf(sample);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const sorted = [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => [name, (count / samples.length) * 100] as const);
  const others = sorted.slice(NAMED).reduce((sum, [, share]) => sum + share, 0);
  return [...sorted.slice(0, NAMED).map(([name, share]): [string, number] => [name, share]), ["other files", others]];
}
