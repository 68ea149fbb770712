// The service stops in order and within its deadlines, and loses nothing that it acknowledged.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../../src/app/schema.ts";
import { SqliteStorage } from "../../src/storage/sqlite/sqlite-storage.ts";
import { Client } from "../harness/client.ts";
import { stopwatch } from "../harness/cpu-time.ts";
import { environment, newKey } from "../harness/keys.ts";
import { eventually, keyIn, newDataDir, npmStart, Program, runJson } from "../harness/program.ts";
import { endByLaterSignal, LATER_SIGNAL, loadUntilStopped, unfinishedRequest } from "../harness/stopping.ts";

/** Another program that has the store for itself alone, from before the service is started. */
async function lockedStore() {
  const dataDir = newDataDir();
  const file = join(dataDir, "petstore.db");
  await new SqliteStorage(file, migrations).close(); // a store that is new
  const other = new Database(file);
  other.run("PRAGMA locking_mode = EXCLUSIVE");
  other.run("BEGIN EXCLUSIVE");
  return { dataDir, other };
}
/** How long a start waits for it at the most, in milliseconds. */
const WAITS_FOR = 10_000;
const isWaiting = ({ output }: Program) => output.includes('"task":"open_store"');

/** A service that waits for a request, and has got several signals within a second. */
async function toldToStopAgain() {
  for (;;) {
    const program = await Program.start(newDataDir());
    const unfinished = await unfinishedRequest(program, keyIn(program.output));
    const first = performance.now();
    program.child.kill("SIGTERM");
    await program.until(() => program.output.includes('"event":"stopping"'));
    for (const signal of ["SIGTERM", "SIGINT", "SIGTERM"] as const) program.child.kill(signal);
    if (performance.now() - first < 1_000) return { program, unfinished };
    // This process has paused, and the others were later signals.
    await program.end("SIGKILL");
    unfinished.end();
  }
}

describe("stopping", () => {
  test("a later signal ends the service at once; those within a second are one request to stop", async () => {
    const { program, unfinished } = await toldToStopAgain();
    await Bun.sleep(LATER_SIGNAL);
    expect(program.child.exitCode).toBeNull();
    expect(await endByLaterSignal(program, "SIGINT")).toBe(130);
    unfinished.end();
  });

  test("ends within 15 seconds, although a request hangs and another process holds the store", async () => {
    const program = await Program.start(newDataDir());
    const key = keyIn(program.output);
    const headers = { Authorization: `Bearer ${key}` };
    const unfinished = await unfinishedRequest(program, key);
    const database = new Database(join(program.dataDir, "petstore.db"));
    database.run("PRAGMA busy_timeout = 5000");
    database.run("BEGIN IMMEDIATE");
    expect((await fetch(`${program.base}/pets`, { headers })).status).toBe(200); // a count to be saved
    const elapsed = stopwatch(program.child.pid);
    expect(await program.end()).toBe(0);
    expect(elapsed()).toBeLessThan(15_000); // the promise of the design, not a speed
    await program.until(() => program.output.includes('"level":"warn","event":"stopped_without_saving"'));
    database.run("ROLLBACK");
    database.close();
    unfinished.end();
    expect(await runJson(program.dataDir, ["keys", "list"])).toHaveLength(1);
  });

  test("keeps all acknowledged writes after kill -9, and the day's count except for its last second", async () => {
    const dataDir = newDataDir();
    const first = await Program.start(dataDir);
    const key = keyIn(first.output);
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const create = (name: string) =>
      fetch(`${first.base}/pets`, { method: "POST", headers, body: JSON.stringify({ name, categoryId: 1 }) });
    const names = Array.from({ length: 100 }, (_, index) => `Animal ${index}`);
    const responses = await Promise.all(names.map(create));
    expect(responses.every(({ status }) => status === 201)).toBe(true);
    const database = new Database(join(dataDir, "petstore.db"), { readonly: true });
    await eventually(
      async () => database.query<{ windows: string }, []>("SELECT windows FROM limit_windows").get()?.windows,
      (windows) => windows?.includes('["day",86400000,100,') ?? false,
    );
    database.close();
    await first.end("SIGKILL");
    const second = await Program.start(dataDir);
    // The newest hundred: without the sample animals, which are the oldest.
    const response = await fetch(`${second.base}/pets?sort=-id&limit=100`, { headers });
    const found = (await response.json()) as { name: string }[];
    expect(found.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    const left = 1000 - 101;
    expect(Number(response.headers.get("x-ratelimit-remaining"))).toBe(left);
    await second.end();
  });
});

describe("a service that is told to stop during its start", () => {
  test("SIGTERM ends the wait for a store that another process has locked", async () => {
    const { dataDir, other } = await lockedStore();
    const program = new Program(dataDir);
    await program.until(() => isWaiting(program));
    const elapsed = stopwatch(program.child.pid);
    expect([await program.end(), program.errors]).toEqual([0, ""]);
    expect(elapsed()).toBeLessThan(WAITS_FOR / 2); // otherwise the wait has ended by itself
    other.close();
  });

  test("the service waits for a store that another process has locked", async () => {
    const { dataDir, other } = await lockedStore();
    const program = new Program(dataDir);
    await program.until(() => isWaiting(program));
    other.close();
    await program.until(() => program.output.includes('"event":"listening"'));
    expect(program.output).toContain("psk_test_");
    expect(await program.end()).toBe(0);
  });

  test.each([
    ["at once", () => true, [0, 143]], // before the program has begun, the system ends it
    ["when the store is being made", ({ dataDir }: Program) => existsSync(join(dataDir, "petstore.db")), [0]],
    ["when it first says something", ({ output }: Program) => output !== "", [0]],
  ] as const)("SIGTERM %s ends the service, and the next start is complete", async (_when, isMoment, statuses) => {
    const program = new Program(newDataDir());
    await eventually(() => new Promise<boolean>((resolve) => setImmediate(() => resolve(isMoment(program)))));
    expect(statuses as readonly number[]).toContain(await program.end());
    expect(program.errors).toBe("");
    const next = await Program.start(program.dataDir);
    const shown = [program, next].flatMap(({ output }) => output.match(/psk_test_\w+/g) ?? []);
    const [key] = shown;
    const response = await fetch(`${next.base}/pets?limit=100`, { headers: { Authorization: `Bearer ${key}` } });
    expect(await response.json()).toHaveLength(24);
    expect(new Set(shown).size).toBe(1);
    expect(await next.end()).toBe(0);
  });
});

const clientOf = async ({ base, dataDir }: Program) =>
  new Client(base, await newKey(dataDir, { perMinute: 10_000_000, perDay: 10_000_000 }));

/** The names of all animals in the store. */
function namesIn({ dataDir }: Program): string[] {
  const database = new Database(join(dataDir, "petstore.db"), { readonly: true });
  const found = database.query<{ name: string }, []>("SELECT name FROM pets").all();
  database.close();
  return found.map(({ name }) => name);
}

describe("a service that is told to stop under full load", () => {
  /** The promise: the service has ended within this time after the signal, in milliseconds. */
  const GONE_WITHIN = 15_000;
  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s: answers every request, and asks each client to leave",
    async (signal) => {
      const program = await Program.start(newDataDir(), environment);
      let sinceSignal: (() => number) | undefined;
      const { acknowledged, broken, last } = await loadUntilStopped(await clientOf(program), () => {
        program.child.kill(signal);
        sinceSignal = stopwatch(program.child.pid);
      });
      expect(await program.child.exited).toBe(0);
      expect(sinceSignal?.()).toBeLessThan(GONE_WITHIN);
      expect([broken, program.errors]).toEqual([[], ""]);
      expect(new Set(last)).toEqual(new Set(["close"]));
      expect(namesIn(program).toSorted()).toEqual(acknowledged.toSorted());
    },
  );

  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s to the process group of `npm start`, as systemd and a terminal send it, is one request to stop",
    async (signal) => {
      const program = await Program.start(newDataDir(), environment, npmStart);
      const { acknowledged, broken, last } = await loadUntilStopped(await clientOf(program), () =>
        process.kill(-program.child.pid, signal),
      );
      expect(await program.child.exited).toBe(0);
      expect([broken, program.errors]).toEqual([[], ""]);
      expect(new Set(last)).toEqual(new Set(["close"]));
      expect(namesIn(program).toSorted()).toEqual(acknowledged.toSorted());
    },
  );

  test("SIGTERM to npm alone stops it gracefully", async () => {
    const program = await Program.start(newDataDir(), environment, npmStart);
    const { broken } = await loadUntilStopped(await clientOf(program), () => program.child.kill("SIGTERM"));
    expect(await program.child.exited).toBe(0);
    expect([broken, program.errors]).toEqual([[], ""]);
  });

  test("a later SIGTERM ends it at once, and no acknowledged write is lost", async () => {
    const program = await Program.start(newDataDir(), environment);
    const unfinished = await unfinishedRequest(program, await newKey(program.dataDir, { perMinute: 10, perDay: 10 }));
    const load = loadUntilStopped(await clientOf(program), () => program.child.kill("SIGTERM"));
    await program.until(() => program.output.includes('"event":"stopping"'));
    await Bun.sleep(LATER_SIGNAL);
    expect(await endByLaterSignal(program, "SIGTERM")).toBe(143);
    unfinished.end();
    const { acknowledged } = await load;
    const found = new Set(namesIn(program));
    expect(acknowledged.filter((name) => !found.has(name))).toEqual([]);
    expect(acknowledged).not.toBeEmpty();
  });
});
