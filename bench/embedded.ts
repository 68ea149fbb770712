import { Database } from "bun:sqlite";
import { join } from "node:path";
import { keyOf, type Load, requestsOf } from "./loads.ts";
import { ALONE, type RunningServer, rivals, type ServerName, startServer } from "./peers.ts";
import { type Processes, residentMemory } from "./processes.ts";
import { firstPage, gets, MAX_REQUESTS, type Request, shuffled } from "./requests.ts";
import { requireSameAnswers } from "./same-answers.ts";
import { fillShops, seedStore, UNLIMITED, USED_UP } from "./seed.ts";
import { alternate, type Contestant, type Effort, type Series } from "./wrk.ts";

/** What a part of the run may use. */
export interface Bench {
  readonly effort: Effort;
  readonly processes: Processes;
  /** An empty folder of the part. */
  readonly folder: string;
  /** The checkout of the service. */
  readonly service: string;
}

/** What was measured with one load. */
export interface Result {
  readonly name: string;
  readonly title: string;
  readonly goal?: Load["goal"];
  readonly series: readonly Series[];
}

/** A process at the end of the run. */
export interface Memory {
  readonly name: string;
  /** Milliseconds from its start to its first response. */
  readonly startedIn: number;
  readonly megabytes: number;
}

const ANIMALS = 100_000;

/** Puts each load on the service and its peers, each of which has one core and its own copy of a store. */
export async function compareServers(
  { effort, processes, folder, service }: Bench,
  loads: readonly Load[],
  done: (result: Result) => void,
): Promise<Memory[]> {
  const store = seedStore(folder, "seed", ANIMALS, [UNLIMITED, USED_UP]);
  const servers: (RunningServer & { file: string })[] = [];
  const start = async (name: ServerName) => {
    const own = join(folder, name.replaceAll(" ", "-"));
    const [model] = servers;
    const server = await startServer(name, { processes, folder: own, service, store, ...(model && { model }) });
    servers.push({ ...server, file: join(own, "petstore.db") });
  };
  for (const name of ["service", ...rivals] as const) await start(name);
  const equal = [...servers];
  await requireSameAnswers(equal, ...(store.keys as [string, string]));
  await start(ALONE);
  for (const load of loads) {
    const { connections, refusedKey } = load;
    const contestants = (load.needsNoKeys ? servers : equal).map(
      (server): Contestant => ({
        name: server.name,
        server,
        key: keyOf(load, store.keys),
        requests: requestsOf(load, server.dialect),
        connections,
        isRefused: refusedKey !== undefined,
      }),
    );
    const { name, title, goal } = load;
    done({ name, title, goal, series: await alternate(processes, folder, effort, contestants) });
  }
  const memory = servers.map(({ name, startedIn, process }) => ({
    name,
    startedIn,
    megabytes: residentMemory(process.pid),
  }));
  await processes.stopAll();
  for (const { name, file } of servers) requireAllRows(name, file);
  return memory;
}

/** Each create must have left an animal, its event and, as all but one had an idempotency key, the stored response. */
function requireAllRows(name: string, file: string): void {
  using database = new Database(file);
  const count = (rows: string) => database.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${rows}`).get()?.n ?? 0;
  const animals = count("pets") - ANIMALS;
  const counts = [animals, count("events"), count("stored_responses")];
  if (counts.some((one) => one < animals - 1)) throw new Error(`${name}: animals, events, responses: ${counts}`);
}

/** Numbers of animals of one shop, and of accounts with one animal each. */
const [SMALL, LARGE] = [1_000, 1_000_000];

/** Puts reads on the service with stores of different sizes. */
export async function compareSizes(
  { effort, processes, folder, service }: Bench,
  done: (result: Result) => void,
): Promise<void> {
  const quotas = Array.from({ length: LARGE }, () => UNLIMITED);
  const stores = [
    { title: "1,000 animals", store: seedStore(folder, "small", SMALL, [UNLIMITED]) },
    { title: "1,000,000 animals", store: seedStore(folder, "large", LARGE, [UNLIMITED]) },
    { title: "1,000,000 accounts", store: seedStore(folder, "accounts", 1, quotas) },
  ];
  const [, , { store: accounts } = { store: undefined }] = stores;
  if (accounts) fillShops(accounts, 1);
  const contestants: Contestant[] = [];
  for (const { title, store } of stores) {
    const server = await startServer("service", { processes, folder: join(folder, title), service, store });
    const ofAccounts: Request[] = shuffled(store.keys)
      .slice(0, MAX_REQUESTS)
      .map((key) => ({ method: "GET", path: "/v1/pets/1", headers: { Authorization: `Bearer ${key}` } }));
    const reads = store === accounts ? ofAccounts : gets(server.dialect);
    const pages = store === accounts ? [] : [firstPage()];
    for (const [index, requests] of [reads, ...pages].entries()) {
      const name = `${index === 0 ? "one animal" : "first page"}, ${title}`;
      contestants.push({ name, server, key: store.keys[0] ?? "", requests: () => requests });
    }
  }
  for (const one of await alternate(processes, folder, effort, contestants)) {
    done({ name: "sizes", title: one.name, series: [{ ...one, name: "service" }] });
  }
  await processes.stopAll();
}
