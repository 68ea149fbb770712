import { join } from "node:path";
import { CONNECTIONS, startFleet, stopFleet } from "./fleet.ts";
import type { RunningServer } from "./peers.ts";
import { residentMemory } from "./processes.ts";
import { gets } from "./requests.ts";
import { alternate, contestant, shuffled } from "./rounds.ts";
import { fillShops, seedStore, UNLIMITED } from "./seed.ts";
import { type Measurement, measurementTarget, ratioTarget, type Workload } from "./workload.ts";
import { writeLoad } from "./wrk.ts";

const ANIMALS = 100_000;

export const manyAccounts: Workload = {
  name: "accounts",
  title: "Many accounts",
  description:
    "Reads of single animals with one key, and with the keys of all 1,000,000 accounts in no order, each of which reads " +
    "the only animal of its shop. The service alone, 64 connections; the memory is that of the same process at the end.",
  inShort: false,
  chart: "rate",
  isServiceOnly: true,
  run: async (bench) => {
    const { options, processes, folder } = bench;
    const accounts = options.effort.accounts;
    const store = seedStore(
      folder,
      "seed",
      ANIMALS,
      Array.from({ length: accounts }, () => UNLIMITED),
    );
    fillShops(store, 1);
    const fleet = await startFleet(bench, store, ["service"]);
    const [server] = fleet.servers as [RunningServer];
    const memory = { start: residentMemory(server.process.pid) };
    const reads = gets(server.dialect);
    const key = store.keys[0] ?? "";
    const spread = shuffled(store.keys).map((one) => ({
      method: "GET" as const,
      path: `${server.dialect.pets}/1`,
      headers: { Authorization: `Bearer ${one}` },
    }));
    const one = writeLoad(join(folder, "one.txt"), reads, key, CONNECTIONS);
    const all = writeLoad(join(folder, "all.txt"), spread, key, CONNECTIONS);
    const series = await alternate([
      contestant("one key", processes, server, one, options.effort),
      contestant("all keys", processes, server, all, options.effort),
    ]);
    const measurements: Measurement[] = [
      { name: "memory after the start", unit: "MB", values: [memory.start] },
      { name: "memory after the load", unit: "MB", values: [residentMemory(server.process.pid)] },
    ];
    await stopFleet(bench, fleet);
    return { series, measurements, notes: [`The store had ${accounts.toLocaleString("en")} accounts.`] };
  },
  targets: [
    ratioTarget("throughput ≥ 0.8 × of one key", "at least", 0.8, ["rate", "all keys", "one key"]),
    measurementTarget("memory < 300 MB", "MB", 300, "memory after the load"),
  ],
};
