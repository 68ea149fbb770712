import { join } from "node:path";
import { CONNECTIONS } from "./fleet.ts";
import { type RunningServer, type ServerName, startServer, unavailableReason } from "./peers.ts";
import { residentMemory } from "./processes.ts";
import { mixed } from "./requests.ts";
import { median, type Series } from "./rounds.ts";
import { seedStore, UNLIMITED } from "./seed.ts";
import { type Bench, type Findings, type Measurement, measurementTarget, type Workload } from "./workload.ts";
import { type Load, type Round, runWrk, writeLoad } from "./wrk.ts";

/** How long a process may take to become idle, in milliseconds. */
const REST = 2_000;
/** Seconds of load between two measurements of the memory. */
const STEP = 5;
/** Minimal programs: how much memory does the runtime alone need, and with SQLite? */
const minimal: readonly ServerName[] = ["bare Bun.serve", "Bun.serve with SQLite"];
/** Growth up to this factor is noise: how much the garbage collector frees differs from run to run. */
const NOISE = 1.1;

export const start: Workload = {
  name: "start",
  title: "Start",
  description:
    "From starting the executable to its first answer of `GET /v1/pets/1`, on a large existing store; asked every 2 ms.",
  inShort: false,
  chart: "measurements",
  run: async ({ options, processes, folder }) => {
    const { effort, service } = options;
    const executable = buildExecutable(service, folder);
    const store = seedStore(folder, "seed", effort.startAnimals, [UNLIMITED]);
    const names = (["service", "Fastify"] satisfies ServerName[]).filter((name) => !unavailableReason(name));
    const measurements: (Measurement & { values: number[] })[] = names.map((name) => ({
      name,
      unit: "ms",
      values: [],
    }));
    for (let round = 0; round < effort.starts; round++) {
      for (const { name, values } of measurements) {
        const place = { processes, folder: join(folder, name), service, executable, store };
        const server = await startServer(name as ServerName, place);
        values.push(server.startedIn);
        await processes.stop(server.process);
      }
    }
    return { series: [], measurements, notes: [sizeNote(effort.startAnimals)] };
  },
  targets: [measurementTarget("first answer in < 150 ms", "ms", 150, "service")],
};

export const memory: Workload = {
  name: "memory",
  title: "Memory",
  description:
    "Resident memory of the executable at rest after its start on a large existing store, then every 5 s under the mixed " +
    "load (10 minutes with `--full`), then at rest again. Growth is the median of the last third over that of the " +
    "second third; up to 1.1 is taken as none. *Bare Bun.serve* and *Bun.serve with SQLite* are measured in the same way " +
    "and show what the runtime and SQLite alone need; the bare one answers a create with a page.",
  inShort: false,
  chart: "measurements",
  run: async (bench): Promise<Findings> => {
    const { options, processes, folder } = bench;
    const store = seedStore(folder, "seed", options.effort.startAnimals, [UNLIMITED]);
    const executable = buildExecutable(options.service, folder);
    const place = { processes, service: options.service, executable, store };
    const service = await startServer("service", { ...place, folder: join(folder, "service") });
    const load = writeLoad(join(folder, "mixed.txt"), mixed(service.dialect), store.keys[0] ?? "", CONNECTIONS);
    const watched = [await watchMemory(bench, service, load)];
    for (const name of options.effort.contextRounds > 0 ? minimal : []) {
      const own = join(folder, name.replaceAll(/\W/g, "-"));
      const server = await startServer(name, { ...place, folder: own, model: service });
      watched.push(await watchMemory(bench, server, load));
      await processes.stop(server.process);
    }
    await processes.stop(service.process);
    return {
      series: watched.map(({ series }) => series),
      measurements: watched.flatMap(({ measurements }) => measurements),
      notes: [sizeNote(options.effort.startAnimals)],
    };
  },
  targets: [
    measurementTarget("at rest < 60 MB", "MB", 60, "service, at rest"),
    measurementTarget("after the load < 100 MB", "MB", 100, "service, at rest after the load"),
    {
      text: "no growth under load",
      comparison: "at most",
      bound: NOISE,
      unit: "×",
      values: ({ measurements = [] }) => {
        const values = measurements.find(({ name }) => name === "service, under load")?.values ?? [];
        const third = Math.floor(values.length / 3);
        return third === 0 ? [] : [median(values.slice(-third)) / median(values.slice(-2 * third, -third))];
      },
    },
  ],
};

/** Measures the memory of a server at rest, under load, and at rest again. */
async function watchMemory(
  { options, processes }: Bench,
  server: RunningServer,
  load: Load,
): Promise<{ series: Series; measurements: Measurement[] }> {
  const { name } = server;
  const { pid } = server.process;
  await Bun.sleep(REST);
  const idle = residentMemory(pid);
  const during: number[] = [];
  const rounds: Round[] = [];
  for (let second = 0; second < options.effort.soak; second += STEP) {
    rounds.push(await runWrk(processes, server, load, STEP));
    during.push(residentMemory(pid));
  }
  await Bun.sleep(REST);
  return {
    series: { name, rounds },
    measurements: [
      { name: `${name}, at rest`, unit: "MB", values: [idle] },
      { name: `${name}, under load`, unit: "MB", values: during },
      { name: `${name}, at rest after the load`, unit: "MB", values: [residentMemory(pid)] },
    ],
  };
}

/** Builds the executable, which is what operators run, and returns its file. */
function buildExecutable(checkout: string, folder: string): string {
  const file = join(folder, "petstore");
  const { exitCode, stderr } = Bun.spawnSync(["npm", "run", "--silent", "build", "--", "--outfile", file], {
    cwd: checkout,
  });
  if (exitCode !== 0) throw new Error(`The executable was not built: ${stderr}`);
  return file;
}

function sizeNote(animals: number): string {
  return `The store had ${animals.toLocaleString("en")} animals.`;
}
