// Measures the CPU time of searches and of pages by name, as multiples of that of reading one animal, in one shop.
//
//   npx bun bench/searches.ts [ANIMALS] [ROUNDS] [--postgres]     (default 1,000,000 and 5)
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { serviceDialect, startServer } from "./peers.ts";
import { Processes } from "./processes.ts";
import { gets, type Request, shuffled } from "./requests.ts";
import { Backends } from "./scale/backends.ts";
import { startSharedServer } from "./scale/shared.ts";
import { seedStore, UNLIMITED } from "./seed.ts";
import { alternate, costOf, type LoadedServer, median, ratio } from "./wrk.ts";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { postgres: { type: "boolean" } } });
const [animals, rounds] = [Number(positionals[0] ?? 1_000_000), Number(positionals[1] ?? 5)];
const effort = { rounds, seconds: 2, warmUp: 3 };

/** One request for each of some animals, in no order. The seed calls them "Animal 1", "Animal 2", … */
const some = Array.from({ length: 50_000 }, (_, index) => Math.floor((index * animals) / 50_000) + 1);
const requests = (query: (id: number) => string): Request[] =>
  shuffled(some).map((id) => ({ method: "GET", path: `/v1/pets?${query(id)}` }));
const kinds: Readonly<Record<string, readonly Request[]>> = {
  "one animal": gets(serviceDialect(animals)),
  "search: exact id": requests((id) => `search=${id}`),
  "search: exact name": requests((id) => `search=animal%20${id}&limit=1`),
  "search: a page of 8": requests((id) => `search=animal%20${String(id).slice(0, -2)}&limit=8`),
  "sort=name: a page of 20": requests(() => "sort=name&limit=20").slice(0, 1_000),
};

const processes = new Processes();
const root = join(import.meta.dir, "..");
mkdirSync(join(import.meta.dir, "work"), { recursive: true });
const place = mkdtempSync(join(import.meta.dir, "work", "searches-"));

/** The service with one shop of these animals, and its key. */
async function start(): Promise<LoadedServer & { readonly key: string }> {
  if (!values.postgres) {
    const store = seedStore(place, "seed", animals, [UNLIMITED]);
    const setup = { processes, folder: join(place, "service"), service: root, store };
    return { ...(await startServer("service", setup)), key: store.keys[0] ?? "" };
  }
  const backends = await Backends.start(processes, 2 * animals);
  const store = await backends.newStore(animals);
  const bench = { service: root, processes, folder: place };
  return { ...(await startSharedServer(bench, backends, store, "service", 1)), key: store.key };
}

try {
  const server = await start();
  const { key } = server;
  const contestants = Object.entries(kinds).map(([name, sent]) => ({ name, server, key, requests: () => sent }));
  const measured = await alternate(processes, place, effort, contestants);
  const [base = { name: "", rounds: [] }] = measured;
  for (const one of measured) {
    const times = ratio(one, base, costOf).toFixed(2);
    console.log(`${one.name}: ${median(one.rounds.map(costOf)).toFixed(1)} µs of CPU, ${times} × one animal`);
  }
} finally {
  await processes.end();
  rmSync(place, { recursive: true, force: true });
}
