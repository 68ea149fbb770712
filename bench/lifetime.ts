import { join } from "node:path";
import { CONNECTIONS } from "./fleet.ts";
import { type ServerName, startServer, unavailableReason } from "./peers.ts";
import { residentMemory } from "./processes.ts";
import { mixed } from "./requests.ts";
import { median } from "./rounds.ts";
import { seedStore, UNLIMITED } from "./seed.ts";
import { type Findings, type Measurement, measurementTarget, type Workload } from "./workload.ts";
import { type Round, runWrk, writeLoad } from "./wrk.ts";

/** How long a process may take to become idle, in milliseconds. */
const REST = 2_000;
/** Seconds of load between two measurements of the memory. */
const STEP = 5;
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
    "second third; up to 1.1 is taken as none.",
  inShort: false,
  chart: "measurements",
  run: async ({ options, processes, folder }): Promise<Findings> => {
    const store = seedStore(folder, "seed", options.effort.startAnimals, [UNLIMITED]);
    const executable = buildExecutable(options.service, folder);
    const place = { processes, folder: join(folder, "service"), service: options.service, executable, store };
    const server = await startServer("service", place);
    const { pid } = server.process;
    await Bun.sleep(REST);
    const idle = residentMemory(pid);
    const load = writeLoad(join(folder, "mixed.txt"), mixed(server.dialect), store.keys[0] ?? "", CONNECTIONS);
    const during: number[] = [];
    const rounds: Round[] = [];
    for (let second = 0; second < options.effort.soak; second += STEP) {
      rounds.push(await runWrk(processes, server, load, STEP));
      during.push(residentMemory(pid));
    }
    await Bun.sleep(REST);
    const after = residentMemory(pid);
    await processes.stop(server.process);
    return {
      series: [{ name: "service", rounds }],
      measurements: [
        { name: "at rest", unit: "MB", values: [idle] },
        { name: "under load", unit: "MB", values: during },
        { name: "at rest after the load", unit: "MB", values: [after] },
      ],
      notes: [sizeNote(options.effort.startAnimals)],
    };
  },
  targets: [
    measurementTarget("at rest < 60 MB", "MB", 60, "at rest"),
    measurementTarget("after the load < 100 MB", "MB", 100, "at rest after the load"),
    {
      text: "no growth under load",
      comparison: "at most",
      bound: NOISE,
      unit: "×",
      values: ({ measurements = [] }) => {
        const values = measurements.find(({ name }) => name === "under load")?.values ?? [];
        const third = Math.floor(values.length / 3);
        return third === 0 ? [] : [median(values.slice(-third)) / median(values.slice(-2 * third, -third))];
      },
    },
  ],
};

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
