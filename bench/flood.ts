import { join } from "node:path";
import { CONNECTIONS, startFleet, stopFleet } from "./fleet.ts";
import type { RunningServer } from "./peers.ts";
import { creates, firstPage, gets } from "./requests.ts";
import { alternate, contestant, shuffled } from "./rounds.ts";
import { fillShops, seedStore, UNLIMITED } from "./seed.ts";
import type { Workload } from "./workload.ts";
import { runWrk, writeLoad } from "./wrk.ts";

/** Connections of the shop that floods the service. */
const FLOOD = 1_000;
/** Animals of each of the two shops. */
const ANIMALS = 10_000;
/** The longest that a request of another shop may take without a proxy that limits clients, in milliseconds. */
const LONGEST = 500;
/** Seconds by which the flood begins before a round, and ends after it. */
const FLOOD_MARGIN = { before: 1.5, after: 1 };

const alone = "alone";
/** What the other shop sends, by name. */
const floods = { reads: gets, creates };

export const flood: Workload = {
  name: "flood",
  title: "One shop floods the service",
  description:
    "Single animals and the first page of one shop, 64 connections: alone, and while another shop sends reads, or " +
    "creates, on 1,000 connections without regard to `Retry-After`. The service alone. Shown are the answers to the " +
    "first shop.",
  inShort: true,
  chart: "p99",
  isServiceOnly: true,
  run: async (bench) => {
    const { options, processes, folder } = bench;
    const store = seedStore(folder, "seed", ANIMALS, [UNLIMITED, UNLIMITED]);
    fillShops(store, ANIMALS);
    const fleet = await startFleet(bench, store, ["service"]);
    const [server] = fleet.servers as [RunningServer];
    const [key = "", other = ""] = store.keys;
    const animals = gets(server.dialect);
    const reads = shuffled([...animals, ...animals.flatMap(() => firstPage(server.dialect))]);
    const load = writeLoad(join(folder, "reads.txt"), reads, key, CONNECTIONS);
    const { seconds } = options.effort;
    const one = contestant(alone, processes, server, load, options.effort);
    const flooded = Object.entries(floods).map(([name, requests]) => {
      const flooding = writeLoad(join(folder, `${name}.txt`), requests(server.dialect), other, FLOOD);
      const run = async () => {
        const background = runWrk(processes, server, flooding, FLOOD_MARGIN.before + seconds + FLOOD_MARGIN.after);
        await Bun.sleep(FLOOD_MARGIN.before * 1_000);
        const [round] = await Promise.all([runWrk(processes, server, load, seconds), background]);
        return round;
      };
      const { rounds, warmUp } = one;
      return { name: duringFlood(name), rounds, warmUp, run };
    });
    const series = await alternate([one, ...flooded]);
    await stopFleet(bench, fleet);
    return { series, notes: fleet.notes };
  },
  targets: Object.keys(floods).map((name) => ({
    text: `p99 ${duringFlood(name)} ≤ ${LONGEST} ms`,
    bound: LONGEST,
    comparison: "at most",
    unit: "ms",
    values: ({ series }) => series.find((one) => one.name === duringFlood(name))?.rounds.map(({ p99 }) => p99) ?? [],
  })),
};

function duringFlood(name: string): string {
  return `during a flood of ${name}`;
}
