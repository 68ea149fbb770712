// Clients that are slow in every way, and many of them: others do not notice, and each is ended in time.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { runQueueDelayOf } from "../harness/cpu-time.ts";
import { eventually } from "../harness/program.ts";
import { isLongRun, rounds } from "../harness/test-length.ts";
import { LoadedService } from "./loaded-service.ts";
import { SlowClients, type SlowKind, slowKinds } from "./slow-clients.ts";

/** Connections that this process may have; the service may have as many. */
const MAX_OPEN = Number(/^Max open files +\d+ +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]);
/** The number of clients that send nothing, and of clients of each other kind. */
const IDLE = Math.min(rounds(200, 10_000), MAX_OPEN - 4_000);
const EACH = rounds(20, 300);
/** Clients of a kind that sends as fast as it can, which is work for the service, not slowness. */
const POURING = rounds(5, 30);
const howMany = ({ sends, pours }: SlowKind) => {
  if (sends === "") return IDLE;
  return pours ? POURING : EACH;
};

/** Connections of those who are not slow. */
const OTHERS = 16;
/** A bound for a test that hangs, in milliseconds: the slowest client may take half a minute. */
const LONGEST = rounds(60_000, 300_000);
/** Seconds by which timers and the way to this test may be late. */
const GRACE = 2;

const animal = (name: string) => JSON.stringify({ name, categoryId: 1 });

/** For how many seconds the service and this test have waited so far for a processor that others had. */
const waited = ({ program }: LoadedService) =>
  (runQueueDelayOf(program.child.pid) + runQueueDelayOf(process.pid)) / 1_000;

/** Files and connections that the service has open. */
const openFiles = ({ program }: LoadedService) => readdirSync(`/proc/${program.child.pid}/fd`).length;

test(
  "others get right responses as before, and each slow client is ended in time",
  async () => {
    await using service = await LoadedService.start();
    await service.load({ request: service.request("POST", "/pets", animal("Rex")), connections: 8, seconds: 0.2 });
    const others = { request: service.request("GET", "/pets?limit=20"), connections: OTHERS, seconds: rounds(1, 5) };
    const before = await service.load(others);
    const filesBefore = openFiles(service);
    const waitedBefore = waited(service);

    const kinds = slowKinds(service, await service.otherKey());
    const crowd = kinds.map((kind) => new SlowClients(kind, service.port, howMany(kind)));
    await Promise.all(crowd.map((clients) => clients.opened()));
    const openedAt = performance.now();
    const load = service.load(others);
    expect([...(await service.watchDuring(load))]).toEqual([]);
    const during = await load;
    expect([Object.keys(during.statuses), during.refusals, during.lost]).toEqual([["200"], [], 0]);
    for (let count = 0; count < 20; count++) {
      const added = await service.call("/pets", animal(`Tom ${count}`));
      expect([added.status, await added.json()]).toMatchObject([201, { name: `Tom ${count}` }]);
      const found = await service.call(new URL(added.headers.get("location") ?? "").pathname.slice("/v1".length));
      expect([found.status, await found.json()]).toMatchObject([200, { name: `Tom ${count}` }]);
    }

    // In a short run only those are waited for that are ended at once.
    const awaited = crowd.filter(({ kind }) => !kind.neverReads && (isLongRun || kind.endsWithin <= 6));
    for (const clients of awaited) {
      await clients.ended();
      const { name, status } = clients.kind;
      if (status !== undefined) expect([name, ...clients.statuses]).toEqual([name, status]);
      if (isLongRun) console.log(`${name}: ended after ${clients.slowestEnd.toFixed(1)} s`);
    }
    const grace = () => GRACE + waited(service) - waitedBefore; // time without a processor does not count as late
    if (isLongRun) {
      const late = awaited.filter(({ kind, slowestEnd }) => slowestEnd > kind.endsWithin + grace());
      expect(late.map(({ kind }) => kind.name)).toEqual([]);
      // Those that do not read cannot see their end: the service's open files tell it.
      await eventually(
        () => service.call("/pets"),
        () => openFiles(service) <= filesBefore + OTHERS,
      );
      const lastEnd = (performance.now() - openedAt) / 1_000;
      console.log(`all: ended after ${lastEnd.toFixed(1)} s`);
      expect(lastEnd).toBeLessThanOrEqual(Math.max(...crowd.map(({ kind }) => kind.endsWithin)) + grace());
      const slow = kinds.reduce((sum, kind) => sum + howMany(kind), 0);
      const p99 = (report: typeof before) => `${report.p99.toFixed(1)} ms`;
      console.log(`p99 of others: ${p99(before)} before, ${p99(during)} among ${slow} slow clients`);
      expect(during.p99).toBeLessThan(3 * before.p99 + 10);
    }
    for (const clients of crowd) clients.stop();
  },
  LONGEST,
);
