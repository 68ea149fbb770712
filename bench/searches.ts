// Measures the CPU time of searches and of pages by name, as multiples of that of reading one animal, in one shop.
//
//   npx bun bench/searches.ts [ANIMALS] [ROUNDS] [--postgres]     (default 1,000,000 and 5)
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CONNECTIONS } from "./fleet.ts";
import { serviceDialect, startServer } from "./peers.ts";
import { Processes } from "./processes.ts";
import { gets } from "./requests.ts";
import { alternate, contestant, median, shuffled } from "./rounds.ts";
import { Backends } from "./scale/backends.ts";
import { startSharedServer } from "./scale/servers.ts";
import { seedStore, UNLIMITED } from "./seed.ts";
import { type LoadedServer, type Request, type Round, writeLoad } from "./wrk.ts";

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
  const bench = { options: { service: root }, processes, folder: place };
  return { ...(await startSharedServer(bench, backends, store, "service", 1)), key: store.key };
}

/** Microseconds of CPU time per response, of the service and of the servers that it uses. */
function cost({ core, rate, costs }: Round): number {
  return costs
    ? Object.entries(costs).reduce((sum, [name, of]) => sum + (name.endsWith("µs") ? of : 0), 0)
    : (core / rate) * 1e6;
}

try {
  const server = await start();
  const measured = await alternate(
    Object.entries(kinds).map(([name, sent], index) => {
      const load = writeLoad(join(place, `${index}.txt`), sent, server.key, CONNECTIONS);
      return contestant(name, processes, server, load, effort);
    }),
  );
  const [base] = measured;
  for (const { name, rounds: each } of measured) {
    const ratios = each.map((round, index) => cost(round) / cost(base?.rounds[index] as Round));
    console.log(`${name}: ${median(each.map(cost)).toFixed(1)} µs of CPU, ${median(ratios).toFixed(2)} × one animal`);
  }
} finally {
  await processes.end();
  rmSync(place, { recursive: true, force: true });
}
