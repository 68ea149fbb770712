import { join } from "node:path";
import { CONNECTIONS, startFleet, stopFleet } from "./fleet.ts";
import type { RunningServer, ServerName } from "./peers.ts";
import { firstPage, gets, MAX_REQUESTS } from "./requests.ts";
import { alternate, contestant, median, type Series, shuffled } from "./rounds.ts";
import { fillShops, seedStore, UNLIMITED } from "./seed.ts";
import { figure } from "./svg.ts";
import { ratios, ratioTarget, type Workload } from "./workload.ts";
import { type Request, writeLoad } from "./wrk.ts";

/** Animals of each of many shops. */
const ANIMALS = 1_000;
/** A minimal program: what do memory and SQLite alone lose with many shops? */
const PEER: ServerName = "Bun.serve with keys";
const reads = { get: gets, "first page": firstPage };

export const manyShops: Workload = {
  name: "shops",
  title: "Many shops",
  description:
    "Single animals, and the first page of 20 available ones, from two stores with equally many animals: one has them " +
    "in one shop, the other 1,000 in each of many shops, whose keys take turns in no order. One instance of the service for " +
    "each store, 64 connections. *Bun.serve with keys* only finds the shop of the key, counts the request and saves the " +
    "counts twice a second, with neither usage nor logs: it shows what the runtime, memory and SQLite alone lose.",
  inShort: true,
  chart: "rate",
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
    const names: readonly ServerName[] = ["service", PEER];
    const large = await startFleet({ ...bench, folder: join(folder, "of-one") }, largeStore, names);
    const many = await startFleet({ ...bench, folder: join(folder, "of-many") }, manyStore, names);
    // The peer has as many rounds as the service, because their ratios are compared.
    const contestantOf = (server: RunningServer, name: string, requests: readonly Request[], key = "") => {
      const load = writeLoad(join(folder, `${name.replaceAll(/\W/g, "-")}.txt`), requests, key, CONNECTIONS);
      return contestant(name, processes, server, load, options.effort);
    };
    const contestants = large.servers.flatMap((one, index) => {
      const other = many.servers[index] as RunningServer;
      return Object.entries(reads).flatMap(([read, requests]) => {
        const ofMany = spread(manyStore.keys, requests(other.dialect));
        return [
          contestantOf(one, nameOf(one.name, read, "one shop"), requests(one.dialect), largeStore.keys[0]),
          contestantOf(other, nameOf(other.name, read, "many shops"), ofMany),
        ];
      });
    });
    const series = await alternate(contestants);
    await stopFleet(bench, { servers: [...large.servers, ...many.servers] });
    const note = `${shops.toLocaleString("en")} shops of ${ANIMALS.toLocaleString("en")} animals, and one of ${animals.toLocaleString("en")}.`;
    return { series, notes: [note, ...large.notes, ...peerNotes(series)] };
  },
  targets: Object.keys(reads).map((read) =>
    ratioTarget(`${read}: throughput ≥ 0.9 × of one shop`, "at least", 0.9, manyToOne("service", read)),
  ),
};

function nameOf(server: ServerName, read: string, shops: "one shop" | "many shops"): string {
  return `${server}, ${read}, ${shops}`;
}

/** The throughput of a server with many shops, compared with one. */
function manyToOne(server: ServerName, read: string): readonly ["rate", string, string] {
  return ["rate", nameOf(server, read, "many shops"), nameOf(server, read, "one shop")];
}

/** The ratios of the peer, where it was measured. */
function peerNotes(series: readonly Series[]): string[] {
  return Object.keys(reads).flatMap((read) => {
    const values = ratios({ series, notes: [] }, ...manyToOne(PEER, read));
    return values.length > 0 ? [`${PEER}, ${read}: throughput ${figure(median(values))} × of one shop.`] : [];
  });
}

/** Each of some requests with the keys of all shops, in no order. */
function spread(keys: readonly string[], requests: readonly Request[]): Request[] {
  const numbers = Array.from({ length: Math.min(MAX_REQUESTS, keys.length * requests.length) }, (_, index) => index);
  return shuffled(numbers).map((number) => {
    const { method, path } = requests[Math.floor(number / keys.length)] as Request;
    return { method, path, headers: { Authorization: `Bearer ${keys[number % keys.length]}` } };
  });
}
