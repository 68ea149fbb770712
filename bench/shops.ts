import { join } from "node:path";
import { CONNECTIONS, startFleet, stopFleet } from "./fleet.ts";
import type { RunningServer } from "./peers.ts";
import { firstPage, gets, MAX_REQUESTS } from "./requests.ts";
import { alternate, contestant, shuffled } from "./rounds.ts";
import { fillShops, seedStore, UNLIMITED } from "./seed.ts";
import { ratioTarget, type Workload } from "./workload.ts";
import { type Request, writeLoad } from "./wrk.ts";

/** Animals of each of many shops. */
const ANIMALS = 1_000;
const reads = { get: gets, "first page": firstPage };

export const manyShops: Workload = {
  name: "shops",
  title: "Many shops",
  description:
    "Single animals, and the first page of 20 available ones, from two stores with equally many animals: one has them " +
    "in one shop, the other 1,000 in each of many shops, whose keys take turns in no order. The service alone, one " +
    "instance for each store, 64 connections.",
  inShort: true,
  chart: "rate",
  isServiceOnly: true,
  run: async (bench) => {
    const { options, processes, folder } = bench;
    const animals = options.effort.growth.at(-1) ?? ANIMALS;
    const shops = animals / ANIMALS;
    const largeStore = seedStore(folder, "one", animals, [UNLIMITED]);
    const manyStore = seedStore(
      folder,
      "many",
      ANIMALS,
      Array.from({ length: shops }, () => UNLIMITED),
    );
    fillShops(manyStore, ANIMALS);
    const large = await startFleet({ ...bench, folder: join(folder, "of-one") }, largeStore, ["service"]);
    const many = await startFleet({ ...bench, folder: join(folder, "of-many") }, manyStore, ["service"]);
    const [one, other] = [...large.servers, ...many.servers] as [RunningServer, RunningServer];
    const contestants = Object.entries(reads).flatMap(([read, requests], index) => {
      const ofOne = requests(one.dialect);
      const ofMany = spread(manyStore.keys, requests(other.dialect));
      const load = writeLoad(join(folder, `one-${index}.txt`), ofOne, largeStore.keys[0] ?? "", CONNECTIONS);
      const spreadLoad = writeLoad(join(folder, `many-${index}.txt`), ofMany, manyStore.keys[0] ?? "", CONNECTIONS);
      return [
        contestant(nameOf(read, "one shop"), processes, one, load, options.effort),
        contestant(nameOf(read, "many shops"), processes, other, spreadLoad, options.effort),
      ];
    });
    const series = await alternate(contestants);
    await stopFleet(bench, { servers: [one, other] });
    const note = `${shops.toLocaleString("en")} shops of ${ANIMALS.toLocaleString("en")} animals, and one of ${animals.toLocaleString("en")}.`;
    return { series, notes: [note] };
  },
  targets: Object.keys(reads).map((read) =>
    ratioTarget(`${read}: throughput ≥ 0.9 × of one shop`, "at least", 0.9, [
      "rate",
      nameOf(read, "many shops"),
      nameOf(read, "one shop"),
    ]),
  ),
};

function nameOf(read: string, shops: string): string {
  return `${read}, ${shops}`;
}

/** Each of some requests with the keys of all shops, in no order. */
function spread(keys: readonly string[], requests: readonly Request[]): Request[] {
  const numbers = Array.from({ length: Math.min(MAX_REQUESTS, keys.length * requests.length) }, (_, index) => index);
  return shuffled(numbers).map((number) => {
    const { method, path } = requests[Math.floor(number / keys.length)] as Request;
    return { method, path, headers: { Authorization: `Bearer ${keys[number % keys.length]}` } };
  });
}
