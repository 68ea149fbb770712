import { join } from "node:path";
import { settlesWithin } from "../src/timing/waiting.ts";
import { CONNECTIONS, startFleet, stopFleet } from "./fleet.ts";
import { Listeners } from "./listeners.ts";
import type { RunningServer } from "./peers.ts";
import type { Dialect } from "./requests.ts";
import { creates, gets } from "./requests.ts";
import { alternate, type Contestant, contestant, median } from "./rounds.ts";
import { seedStore, UNLIMITED } from "./seed.ts";
import { type Findings, type Measurement, measurementTarget, type Workload } from "./workload.ts";
import { type Round, writeLoad } from "./wrk.ts";

const ANIMALS = 100_000;
/** Changes in a round of delays. */
const CHANGES = 20;
/** Milliseconds between two changes, at the most: longer than a process waits before it looks for changes of others. */
const MAX_PAUSE = 400;
/** An account may have 100 streams at a process. */
const [ACCOUNTS, STREAMS_OF_EACH] = [10, 100];
/** Events a second, of all accounts together. */
const EVENTS = 100;

/** A service that is sent changes. */
interface Server {
  readonly url: string;
  readonly dialect: Dialect;
}

/** Milliseconds from sending changes to a server until a listener has their events, by the median and the most of each round. */
export async function measureDelays(
  name: string,
  server: Server,
  listeners: Listeners,
  key: string,
  rounds: number,
): Promise<Measurement[]> {
  const delays: number[][] = [];
  for (let round = 0; round < rounds; round++) {
    const ofRound: number[] = [];
    for (let change = 0; change < CHANGES; change++) {
      await Bun.sleep(Math.random() * MAX_PAUSE);
      const seen = listeners.next();
      const from = performance.now();
      await addAnimal(server, key);
      await seen;
      ofRound.push(performance.now() - from);
    }
    delays.push(ofRound.toSorted((a, b) => a - b));
  }
  return [
    { name: `${name}, the middle one`, unit: "ms", values: delays.map((sorted) => sorted[CHANGES / 2] as number) },
    { name: slowestOf(name), unit: "ms", values: delays.map((sorted) => sorted.at(-1) as number) },
  ];
}

export const SAME_PROCESS = "same process";
export const delayTitle = "See an event in a stream";

export function describeDelays(processes: string): string {
  return (
    `From sending \`POST /v1/pets\` until a listener of \`GET /v1/events/stream\` ${processes} has the event, ` +
    `${CHANGES} times a round, after random pauses, because a process looks for the changes of others at intervals. ` +
    "The service alone, which does nothing else."
  );
}

export function delayTarget(name: string, limit: number): ReturnType<typeof measurementTarget> {
  return measurementTarget(`${name}: slowest of ${CHANGES} in < ${limit} ms`, "ms", limit, slowestOf(name));
}

export const streamDelay: Workload = {
  name: "stream-delay",
  title: delayTitle,
  description: describeDelays("of the same process"),
  inShort: false,
  chart: "measurements",
  run: async (bench) => {
    const store = seedStore(bench.folder, "seed", ANIMALS, [UNLIMITED]);
    const fleet = await startFleet(bench, store, ["service"]);
    const [server] = fleet.servers as [RunningServer];
    const listeners = await Listeners.open(server.url, store.keys, 1);
    const { rounds } = bench.options.effort;
    const measurements = await measureDelays(SAME_PROCESS, server, listeners, store.keys[0] ?? "", rounds);
    listeners.close();
    await stopFleet(bench, fleet);
    return { series: [], measurements, notes: [] };
  },
  targets: [delayTarget(SAME_PROCESS, 100)],
};

export const readsAmongStreams: Workload = {
  name: "streams",
  title: "Read while others listen",
  description:
    "`GET /v1/pets/{id}` on 64 connections: alone, while 100 animals a second are added to ten shops, and while each of " +
    "these shops has 100 listeners as well, which get 10,000 events a second together. The service alone. Its CPU " +
    "time, with that of changes and streams, is divided by the reads.",
  inShort: false,
  chart: "rate",
  isServiceOnly: true,
  run: async (bench): Promise<Findings> => {
    const quotas = Array.from({ length: ACCOUNTS }, () => UNLIMITED);
    const store = seedStore(bench.folder, "seed", ANIMALS, quotas);
    const fleet = await startFleet(bench, store, ["service"]);
    const [server] = fleet.servers as [RunningServer];
    const reads = writeLoad(join(bench.folder, "reads.txt"), gets(server.dialect), store.keys[0] ?? "", CONNECTIONS);
    const alone = contestant("reads alone", bench.processes, server, reads, bench.options.effort);
    const changes = () => sendChanges(server, store.keys);
    const changesAndStreams = async () => {
      const listeners = await Listeners.open(server.url, store.keys, STREAMS_OF_EACH);
      const stop = changes();
      return async () => {
        const sent = await stop();
        if (!(await settlesWithin(untilEvents(listeners, sent * STREAMS_OF_EACH), ARRIVAL_TIMEOUT)))
          throw new Error("Events that were sent have not arrived.");
        listeners.close();
      };
    };
    const series = await alternate([
      alone,
      withBackgroundLoad(alone, `with ${EVENTS} changes a second`, changes),
      withBackgroundLoad(alone, `with these and ${ACCOUNTS * STREAMS_OF_EACH} streams`, changesAndStreams),
    ]);
    await stopFleet(bench, fleet);
    const costAlone = median(series[0]?.rounds.map(cost) ?? []);
    const measurements: Measurement[] = series.flatMap(({ name, rounds }, index) => [
      { name: `CPU time of a read, ${name}`, unit: "µs", values: rounds.map((round) => cost(round) * 1e6) },
      ...(index === 0
        ? []
        : [
            {
              name: `share of the core beyond what the reads alone take, ${name}`,
              unit: "%" as const,
              values: rounds.map(({ core, rate }) => (core - rate * costAlone) * 100),
            },
          ]),
    ]);
    return { series, measurements, notes: ["In each round, every listener got every event."] };
  },
  targets: [],
};

/** CPU seconds per read; includes the background load. */
const cost = ({ core, rate }: Round) => core / rate;

/** How long sent events may take to arrive, in milliseconds. */
const ARRIVAL_TIMEOUT = 10_000;

/** The same contestant with a background load, which begins before each round and ends after it. */
function withBackgroundLoad(
  one: Contestant,
  name: string,
  begin: () => BackgroundLoad | Promise<BackgroundLoad>,
): Contestant {
  const run = async () => {
    const end = await begin();
    const round = await one.run();
    await end();
    return round;
  };
  return { ...one, name, run };
}

/** Ends the background load. */
type BackgroundLoad = () => Promise<unknown>;

/** Adds `EVENTS` animals a second, with one key after the other. Returns a function that stops it and resolves with their number. */
function sendChanges(server: Server, keys: readonly string[]): () => Promise<number> {
  const sent: Promise<void>[] = [];
  const timer = setInterval(() => {
    const added = addAnimal(server, keys[sent.length % keys.length] ?? "");
    added.catch(() => {}); // the end of the round reports it
    sent.push(added);
  }, 1000 / EVENTS);
  return async () => {
    clearInterval(timer);
    return (await Promise.all(sent)).length;
  };
}

async function untilEvents(listeners: Listeners, count: number): Promise<void> {
  while (listeners.events < count) await listeners.next();
}

async function addAnimal({ url, dialect }: Server, key: string): Promise<void> {
  const [{ path, body = "" }] = creates(dialect, 1) as [ReturnType<typeof creates>[number]];
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const response = await fetch(url + path, { method: "POST", headers, body });
  if (!response.ok) throw new Error(`An animal was not added: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

function slowestOf(name: string): string {
  return `${name}, the slowest`;
}
