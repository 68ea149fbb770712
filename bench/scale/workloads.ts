import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CONNECTIONS } from "../fleet.ts";
import { compareSizes, growthReads, growthTarget, type SizedServer } from "../growth.ts";
import { Listeners } from "../listeners.ts";
import type { Effort } from "../options.ts";
import { responsesOfModel } from "../peers.ts";
import { signalTree } from "../processes.ts";
import type { Dialect } from "../requests.ts";
import { creates, everyPage, firstPage, gets, mixed } from "../requests.ts";
import { alternate, type Contestant, contestant, median, type Series } from "../rounds.ts";
import { delayTarget, delayTitle, describeDelays, measureDelays, SAME_PROCESS } from "../streams.ts";
import { figure } from "../svg.ts";
import { type Bench, type Findings, type Measurement, ratios, ratioTarget, type Workload } from "../workload.ts";
import { mixedLoad } from "../writes.ts";
import { type Load, type Request, runWrk, writeLoad } from "../wrk.ts";
import { Backends, type SharedStore } from "./backends.ts";
import { nameOf, type ServerKind, type SharedServer, startSharedServer, unavailableReason } from "./servers.ts";

const ANIMALS = 100_000;
const PROCESSES = [1, 2, 4] as const;
const compared: readonly ServerKind[] = ["service", "Fastify"];
/** Shows what the platform alone can answer. No target refers to it. */
const PLATFORM = "Bun.serve with PostgreSQL";
const withPlatform: readonly ServerKind[] = [...compared, PLATFORM];
/** How much more the service must answer than the peer with as many processes. */
const LEAD = 3;
/** Seconds of a round, at the most. */
const ROUND = 2;
/** Seconds of load before a round, in which a paused service becomes as fast as before. */
const RESUME_LOAD = 1;

/** What is put on all servers of a comparison. */
interface SharedLoad {
  readonly requests: (dialect: Dialect) => readonly Request[];
  readonly kinds: readonly ServerKind[];
  /** The requests that the account has in a minute, if all others must be refused. */
  readonly perMinute?: number;
}

/** Puts one kind of load on 1, 2 and 4 processes of each kind, each on its own copy of one store. */
async function compare(bench: Bench, { requests, kinds, perMinute }: SharedLoad): Promise<Findings> {
  const { processes, folder } = bench;
  const { effort } = bench.options;
  const backends = await Backends.start(processes, PROCESSES.length * kinds.length * ANIMALS);
  const seed = await backends.newStore(ANIMALS);
  const responses = join(folder, "responses.json");
  const servers: (SharedServer & { effort: Effort })[] = [];
  for (const count of PROCESSES) {
    for (const kind of kinds.filter((one) => !reasonToLeaveOut(one, effort))) {
      const store = await backends.copyOf(seed);
      const settings = { RESPONSES: responses, ...(perMinute && { LIMIT: String(perMinute) }) };
      const server = await startSharedServer(bench, backends, store, kind, count, settings);
      // The first server is the service, whose headers the platform sends.
      if (servers.length === 0) writeFileSync(responses, JSON.stringify(await responsesOfModel(server, seed.key)));
      if (perMinute) await backends.limit(store, perMinute); // those with accounts notice it during the warm-up
      signalTree(server.process.pid, "SIGSTOP");
      const rounds = kind === PLATFORM ? effort.contextRounds : effort.rounds;
      // Each process gets only a part of the load, but has the same code to compile.
      const warmUp = effort.warmUp * count;
      servers.push({ ...server, effort: { ...effort, rounds, warmUp, seconds: Math.min(ROUND, effort.seconds) } });
    }
  }
  const series = await alternate(
    servers.map((server, index) => {
      const load = writeLoad(join(folder, `${index}.txt`), requests(server.dialect), seed.key, CONNECTIONS);
      const one = contestant(server.name, processes, server, load, server.effort, perMinute !== undefined);
      return inTurn(server, bench, load, one);
    }),
  );
  return {
    series,
    notes: [
      ...kinds.flatMap((kind) => {
        const reason = reasonToLeaveOut(kind, effort);
        return reason ? [`${kind} was left out: ${reason}.`] : [];
      }),
      ...platformLeads(series),
    ],
  };
}

/** Why this kind of server is left out; undefined if it is measured. */
function reasonToLeaveOut(kind: ServerKind, { contextRounds }: Effort): string | undefined {
  const isSkipped = kind === PLATFORM && contextRounds === 0;
  return isSkipped ? "the short mode has no time for it" : unavailableReason(kind);
}

/** How much more than Fastify the platform answers: whether the service can reach its lead. */
function platformLeads(series: readonly Series[]): string[] {
  const leads = PROCESSES.flatMap((count) => {
    const [platform, theirs] = [nameOf(PLATFORM, count), nameOf("Fastify", count)];
    const values = ratios({ series, notes: [] }, "rate", platform, theirs);
    return values.length > 0 ? [`${platform}: ${figure(median(values))} × Fastify.`] : [];
  });
  return leads.length > 0 ? [leads.join(" ")] : [];
}

/** A contestant that runs only while it is measured, because idle servers still do background work. */
function inTurn({ process, ...target }: SharedServer, { processes }: Bench, load: Load, one: Contestant): Contestant {
  const whileResumed =
    <T>(work: () => Promise<T>) =>
    async () => {
      signalTree(process.pid, "SIGCONT");
      await runWrk(processes, { ...target, process }, load, RESUME_LOAD);
      const value = await work();
      signalTree(process.pid, "SIGSTOP");
      return value;
    };
  return { ...one, warmUp: whileResumed(one.warmUp), run: whileResumed(one.run) };
}

function comparison(
  about: Pick<Workload, "name" | "title" | "description">,
  requests: (dialect: Dialect) => readonly Request[],
  { kinds = compared, ...limit }: Partial<Pick<SharedLoad, "kinds" | "perMinute">> = {},
): Workload {
  return {
    ...about,
    inShort: true,
    chart: "rate",
    run: (bench) => compare(bench, { requests, kinds, ...limit }),
    targets: PROCESSES.map((count) => {
      const [ours, theirs] = [nameOf("service", count), nameOf("Fastify", count)];
      const text = `${count === 1 ? "1 process" : `${count} processes`}: ≥ ${LEAD} × Fastify`;
      return ratioTarget(text, "at least", LEAD, ["rate", ours, theirs]);
    }),
  };
}

const growth: Workload = {
  name: "growth",
  title: "Grow",
  description:
    "Reads from databases of different sizes: single animals from all of it, the first page of 20 available ones, a " +
    "hundred pages from its middle and a hundred near its end. The service alone, one process for each size, all on " +
    "one PostgreSQL server with 1 GB of its own memory, 64 connections.",
  inShort: true,
  chart: "p50",
  isServiceOnly: true,
  run: async (bench) => {
    const sizes = bench.options.effort.growth;
    const backends = await Backends.start(bench.processes, Math.max(...sizes) * 2);
    const sized: SizedServer<SharedServer>[] = [];
    for (const animals of sizes) {
      const store = await backends.newStore(animals);
      const place = { ...bench, folder: join(bench.folder, String(animals)) };
      sized.push({ animals, server: await startSharedServer(place, backends, store, "service", 1), key: store.key });
    }
    return { series: await compareSizes(bench, sized), notes: [] };
  },
  targets: Object.keys(growthReads).flatMap((read) => [growthTarget(read, "p50"), growthTarget(read, "p99")]),
};

const OTHER_PROCESS = "other process";

const streamDelay: Workload = {
  name: "stream-delay",
  title: delayTitle,
  description: describeDelays("of the same process, and of another one,"),
  inShort: false,
  chart: "measurements",
  run: async (bench) => {
    const backends = await Backends.start(bench.processes, ANIMALS);
    const store = await backends.newStore(ANIMALS);
    const [same, other] = [await startOne(bench, backends, store), await startOne(bench, backends, store)];
    const measurements: Measurement[] = [];
    for (const [name, { url }] of [
      [SAME_PROCESS, same],
      [OTHER_PROCESS, other],
    ] as const) {
      const listeners = await Listeners.open(url, [store.key], 1);
      measurements.push(...(await measureDelays(name, same, listeners, store.key, bench.options.effort.rounds)));
      listeners.close();
    }
    return { series: [], measurements, notes: [] };
  },
  targets: [delayTarget(SAME_PROCESS, 100), delayTarget(OTHER_PROCESS, 500)],
};

/** Starts a service of one process in a separate folder. */
function startOne(bench: Bench, backends: Backends, store: SharedStore): Promise<SharedServer> {
  return startSharedServer(
    { ...bench, folder: mkdtempSync(join(bench.folder, "one-")) },
    backends,
    store,
    "service",
    1,
  );
}

const aboutPlatform = `*${PLATFORM}* does nothing but read and add the rows and count the requests in Valkey.`;
const over100000 = "over 100,000 animals, each requested once per pass.";

export const scaleWorkloads: readonly Workload[] = [
  comparison(
    {
      name: "get",
      title: "Read one animal",
      description: `\`GET /v1/pets/{id}\`, 64 connections, ids spread ${over100000} ${aboutPlatform}`,
    },
    gets,
    { kinds: withPlatform },
  ),
  comparison(
    {
      name: "first-page",
      title: "Read the first page",
      description: "`GET /v1/pets?limit=20&status=available`, 64 connections. No process remembers the page.",
    },
    firstPage,
  ),
  comparison(
    {
      name: "pages",
      title: "Read pages that nobody has read before",
      description: `The same list with cursors, 64 connections, spread ${over100000} ${aboutPlatform}`,
    },
    everyPage,
    { kinds: withPlatform },
  ),
  comparison(
    {
      name: "create",
      title: "Add animals",
      description: "`POST /v1/pets`, 64 connections. All answer after PostgreSQL has the commit on disk.",
    },
    creates,
  ),
  comparison(
    {
      name: "mixed",
      title: mixedLoad.title,
      description: `${mixedLoad.description} ${aboutPlatform}`,
    },
    mixed,
    { kinds: withPlatform },
  ),
  comparison(
    {
      name: "refuse",
      title: "Refuse requests over the limit",
      description:
        "The same requests as for single animals, 64 connections, with a key that may send one in a minute: all others " +
        `get 429. In the service, a key that continues gets banned. *${PLATFORM}* only counts the requests in Valkey.`,
    },
    gets,
    { kinds: withPlatform, perMinute: 1 },
  ),
  growth,
  streamDelay,
];
