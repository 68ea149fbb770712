// Compares the service of this checkout with that of another one, for example one without a change. It measures the
// CPU time of a response, which other work on the machine changes less than requests per second. Rounds of both
// alternate. With --postgres, both services share a PostgreSQL and a Valkey server, whose CPU time is measured too.
//
//   npx bun bench/against.ts FOLDER [ROUNDS] [--postgres] [--animals N] [--only NAME]...     (default 15 and 100000)
import { Database } from "bun:sqlite";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { generateApiKey } from "../src/domains/keys/api-key.ts";
import { Processes } from "./processes.ts";
import * as requests from "./requests.ts";
import { Backends } from "./scale/backends.ts";
import { startSharedServer } from "./scale/shared.ts";
import { type SeededStore, UNLIMITED } from "./seed.ts";
import { alternate, type Contestant, type LoadedServer, median, type Round } from "./wrk.ts";

/** How long other processes may take to notice a changed account, in milliseconds. */
const ACCOUNT_REFRESH = 1_000;
/** `fromManyAddresses` sends a client address with each request. */
const SETTINGS = { PETSTORE_TRUSTED_PROXIES: "127.0.0.1" };

/** A running service of one checkout. */
interface CheckoutServer extends LoadedServer {
  readonly dialect: requests.Dialect;
  readonly key: string;
  /** Changes rows of its store, as another process: the service notices a changed account within `ACCOUNT_REFRESH`. */
  readonly run: (sql: string) => Promise<void>;
}

interface Comparison {
  readonly requests: (dialect: requests.Dialect) => readonly requests.Request[];
  /** True if every response is an error. */
  readonly isRefused?: true;
  /** The key to send instead of that of the account. */
  readonly key?: string;
  readonly prepare?: (server: CheckoutServer) => Promise<void>;
}

/** The last one leaves the account without quota. */
const comparisons: Record<string, Comparison> = {
  "one animal": { requests: requests.gets },
  "first page": { requests: requests.firstPage },
  "unread pages": { requests: (dialect) => requests.everyPage(dialect) },
  // Before the creates, which take these ids.
  "no such animal": { requests: requests.missing, isRefused: true },
  creates: { requests: () => requests.creates() },
  mixed: { requests: requests.mixed },
  "unknown key": {
    requests: (dialect) => requests.fromManyAddresses(requests.gets(dialect)),
    isRefused: true,
    key: generateApiKey("live"),
  },
  "used up": {
    requests: requests.gets,
    isRefused: true,
    // With such a limit per minute, no number of strikes in a run leads to a ban.
    prepare: async ({ run }) => {
      await run("UPDATE accounts SET per_day = 1");
      // A smaller number makes services read all accounts again. Checkouts without it notice every write.
      await run("UPDATE account_changes SET number = number - 1").catch(() => {});
      await Bun.sleep(ACCOUNT_REFRESH);
    },
  },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    postgres: { type: "boolean" },
    animals: { type: "string", default: "100000" },
    only: { type: "string", multiple: true, default: [] },
  },
});
const [folder, rounds = "15"] = positionals;
const ANIMALS = Number(values.animals);
const effort = { rounds: Number(rounds), seconds: 2, warmUp: 4 };
const chosen = Object.entries(comparisons).filter(([name]) => values.only.length === 0 || values.only.includes(name));
if (!folder || !(effort.rounds > 0) || chosen.length === 0) {
  throw new Error("Usage: bun bench/against.ts FOLDER [ROUNDS] [--postgres] [--animals N] [--only NAME]...");
}

/** Starts the service of a checkout on an embedded store that the checkout fills, because its schema may differ. */
async function startEmbedded(checkout: string, place: string): Promise<CheckoutServer> {
  const { seedStore } = (await import(join(checkout, "bench/seed.ts"))) as typeof import("./seed.ts");
  const store: SeededStore = seedStore(place, "seed", ANIMALS, [UNLIMITED]);
  // Of the checkout, too: it makes the cursors that its own service reads.
  const { startServer } = (await import(join(checkout, "bench/peers.ts"))) as typeof import("./peers.ts");
  const own = join(place, "service");
  const setup = { processes, folder: own, service: checkout, store, settings: SETTINGS };
  const server = await startServer("service", setup);
  const run = async (sql: string) => {
    using database = new Database(join(own, "petstore.db"));
    database.run("PRAGMA busy_timeout = 5000");
    database.run(sql);
  };
  return { ...server, dialect: dialectOf(server.dialect), key: store.keys[0] ?? "", run };
}

/** The same on PostgreSQL and Valkey. */
async function startShared(checkout: string, place: string, backends: Backends): Promise<CheckoutServer> {
  const theirs = (await import(join(checkout, "bench/scale/backends.ts"))) as typeof import("./scale/backends.ts");
  // Its own method, because its schema may differ, but on the shared servers.
  const store = await theirs.Backends.prototype.newStore.call(backends, ANIMALS);
  const { serviceDialect } = (await import(join(checkout, "bench/peers.ts"))) as typeof import("./peers.ts");
  const bench = { service: checkout, processes, folder: place };
  const server = await startSharedServer(bench, backends, store, "service", 1, SETTINGS);
  const run = async (sql: string) => void (await backends.postgres.run(sql, store.database));
  return { ...server, dialect: dialectOf(serviceDialect(ANIMALS)), key: store.key, run };
}

/** Older checkouts have a query instead of a cursor. */
function dialectOf(dialect: requests.Dialect & { pageAfter?: (id: number) => string }): requests.Dialect {
  const { pageAfter } = dialect;
  return pageAfter
    ? { animals: ANIMALS, cursorAfter: (id) => new URLSearchParams(pageAfter(id)).get("cursor") ?? "" }
    : dialect;
}

/** The median of the ratios of the rounds, with their quartiles. */
function ratio(ours: readonly number[], theirs: readonly number[]): string {
  const each = ours.map((value, index) => value / (theirs[index] ?? Number.NaN));
  const sorted = each.toSorted((a, b) => a - b);
  const quarter = Math.floor(sorted.length / 4);
  return `${median(each).toFixed(2)} (${sorted[quarter]?.toFixed(2)} to ${sorted.at(-1 - quarter)?.toFixed(2)})`;
}

/** Compares one workload, and prints a line for each figure. */
async function compare(name: string, comparison: Comparison, servers: readonly CheckoutServer[]): Promise<void> {
  for (const server of servers) await comparison.prepare?.(server);
  const contestants = servers.map((server): Contestant => {
    const sent = comparison.requests(server.dialect);
    const { key = server.key, isRefused } = comparison;
    return { name, server, key, requests: () => sent, isRefused };
  });
  const [ours, theirs] = await alternate(processes, place, effort, contestants);
  if (!ours || !theirs) return;
  const print = (figure: string, of: (round: Round) => number, digits = 1) => {
    const [here, there] = [ours.rounds.map(of), theirs.rounds.map(of)];
    const medians = `${median(here).toFixed(digits)} here, ${median(there).toFixed(digits)} there`;
    console.log(`${name}: ${figure}: ${medians}, ratio ${ratio(here, there)}`);
  };
  for (const figure of Object.keys(ours.rounds[0]?.costs ?? {})) {
    print(figure, ({ costs }) => costs[figure] ?? Number.NaN);
  }
  print("responses per second", ({ rate }) => rate, 0);
}

const processes = new Processes();
const work = join(import.meta.dir, "work");
mkdirSync(work, { recursive: true });
const place = mkdtempSync(join(work, "against-"));
try {
  const backends = values.postgres ? await Backends.start(processes, 2 * ANIMALS) : undefined;
  const servers: CheckoutServer[] = [];
  for (const checkout of [join(import.meta.dir, ".."), resolve(folder)]) {
    const own = mkdtempSync(join(place, "service-"));
    servers.push(await (backends ? startShared(checkout, own, backends) : startEmbedded(checkout, own)));
  }
  for (const [name, comparison] of chosen) await compare(name, comparison, servers);
} finally {
  await processes.end();
  rmSync(place, { recursive: true, force: true });
}
