import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SqliteStorage } from "../src/storage/sqlite/sqlite-storage.ts";
import { eventually, newDataDir, Program, runJson } from "./harness/program.ts";
import { stopwatch } from "./harness/run-queue.ts";
import { Client } from "./torture/client.ts";
import { environment, newKey } from "./torture/keys.ts";

/** Another program that has the store for itself alone, from before the service is started. */
async function lockedStore() {
  const dataDir = newDataDir();
  const file = join(dataDir, "petstore.db");
  await new SqliteStorage(file).close(); // a store that is new
  const other = new Database(file);
  other.run("PRAGMA locking_mode = EXCLUSIVE");
  other.run("BEGIN EXCLUSIVE");
  return { dataDir, other };
}
/** How long a start waits for it at the most, in milliseconds. */
const WAITS_FOR = 10_000;
const isWaiting = ({ output }: Program) => output.includes('"task":"open_store"');

describe("stopping", () => {
  test("a second signal ends the service at once", async () => {
    const program = await Program.start(newDataDir());
    program.child.kill("SIGTERM");
    await program.until(() => program.output.includes('"event":"stopping"'));
    expect(await program.end("SIGTERM")).toBe(143);
  });

  test("ends within 15 seconds, though a request hangs and another process holds the store", async () => {
    const program = await Program.start(newDataDir());
    const key = /psk_test_\w+/.exec(program.output)?.[0];
    const headers = { Authorization: `Bearer ${key}` };
    const unfinished = await Bun.connect({
      hostname: "127.0.0.1",
      port: program.port,
      socket: { data: () => {} },
    });
    unfinished.write(
      `POST /v1/pets HTTP/1.1\r\nHost: petstore\r\nAuthorization: Bearer ${key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"name"',
    );
    unfinished.flush();
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

  test("what was acknowledged is there after kill -9, and the day's count is at most a second old", async () => {
    const dataDir = newDataDir();
    const first = await Program.start(dataDir);
    const key = /psk_test_\w+/.exec(first.output)?.[0] as string;
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const create = (name: string) =>
      fetch(`${first.base}/pets`, { method: "POST", headers, body: JSON.stringify({ name, categoryId: 1 }) });
    const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => create(`Animal ${index}`)));
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    const database = new Database(join(dataDir, "petstore.db"), { readonly: true });
    await eventually(
      async () => database.query<{ day_used: number }, []>("SELECT day_used FROM limit_windows").get()?.day_used,
      (used) => used === 100,
    );
    database.close();
    await first.end("SIGKILL");
    const second = await Program.start(dataDir);
    const response = await fetch(`${second.base}/pets?limit=100`, { headers });
    expect(
      ((await response.json()) as { name: string }[]).filter(({ name }) => name.startsWith("Animal")),
    ).toHaveLength(94);
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
    const before = performance.now();
    expect([await program.end(), program.errors]).toEqual([0, ""]);
    expect(performance.now() - before).toBeLessThan(WAITS_FOR / 2); // otherwise the wait has ended by itself
    other.close();
  });

  test("a store that another process has locked is waited for", async () => {
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
  ] as const)("SIGTERM %s is obeyed, and the next start is a whole one", async (_when, isMoment, statuses) => {
    const program = new Program(newDataDir());
    await eventually(
      () => new Promise<boolean>((resolve) => setImmediate(() => resolve(isMoment(program)))),
      (isNow) => isNow,
    );
    expect(statuses as readonly number[]).toContain(await program.end());
    expect(program.errors).toBe("");
    const next = await Program.start(program.dataDir);
    const shown = [program, next].flatMap(({ output }) => output.match(/psk_test_\w+/g) ?? []);
    const [key] = shown;
    const answer = await fetch(`${next.base}/pets`, { headers: { Authorization: `Bearer ${key}` } });
    expect(await answer.json()).toHaveLength(6);
    expect(new Set(shown).size).toBe(1);
    expect(await next.end()).toBe(0);
  });
});

/** The names of all animals in the store. */
function namesIn({ dataDir }: Program): string[] {
  const database = new Database(join(dataDir, "petstore.db"), { readonly: true });
  const found = database.query<{ name: string }, []>("SELECT name FROM pets").all();
  database.close();
  return found.map(({ name }) => name);
}

describe("a service that is told to stop under full load", () => {
  /** The promise: gone so long after the signal, in milliseconds. */
  const GONE_WITHIN = 15_000;
  const CONNECTIONS = 256;
  const ANSWERS_BEFORE = 1_500;

  /**
   * Adds and lists animals over many connections until the port is closed, and calls `begun` when the load
   * is full. Returns the names that were acknowledged, what was no right answer, and what each connection's
   * last answer said of it.
   */
  async function fullLoad({ base, dataDir }: Program, begun: () => void) {
    const client = new Client(base, await newKey(dataDir, { perMinute: 10_000_000, perDay: 10_000_000 }));
    const acknowledged: string[] = [];
    const broken: string[] = [];
    let answers = 0;
    const send = async (connection: number): Promise<string | null> => {
      for (let last: string | null = null, count = 0; ; count++) {
        const name = `Animal ${connection}-${count}`;
        const isCreate = (connection + count) % 2 === 0;
        try {
          const { status, headers, text } = await (isCreate
            ? client.call("POST", "/pets", JSON.stringify({ name, categoryId: 1 }))
            : client.call("GET", "/pets?limit=3"));
          if (status !== (isCreate ? 201 : 200) || text === undefined) broken.push(`${status}: ${text}`);
          if (isCreate && status === 201) acknowledged.push(name);
          last = headers.get("connection");
        } catch (error) {
          const { code } = error as { code?: string };
          if (code !== "ECONNREFUSED") broken.push(String(code));
          return last;
        }
        if (++answers === ANSWERS_BEFORE) begun();
      }
    };
    const last = await Promise.all(Array.from({ length: CONNECTIONS }, (_, connection) => send(connection)));
    return { acknowledged, broken, last };
  }

  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s: answers every request, and asks each client to leave",
    async (signal) => {
      const program = await Program.start(newDataDir(), environment);
      let signalled = Number.POSITIVE_INFINITY;
      const { acknowledged, broken, last } = await fullLoad(program, () => {
        program.child.kill(signal);
        signalled = performance.now();
      });
      expect(await program.child.exited).toBe(0);
      expect(performance.now() - signalled).toBeLessThan(GONE_WITHIN);
      expect([broken, program.errors]).toEqual([[], ""]);
      expect(new Set(last)).toEqual(new Set(["close"]));
      expect(namesIn(program).toSorted()).toEqual(acknowledged.toSorted());
    },
  );

  test("a second SIGTERM ends it at once, and nothing acknowledged is lost", async () => {
    const program = await Program.start(newDataDir(), environment);
    const load = fullLoad(program, () => program.child.kill("SIGTERM"));
    await program.until(() => program.output.includes('"event":"stopping"'));
    expect(await program.end("SIGTERM")).toBe(143);
    const { acknowledged } = await load;
    const found = new Set(namesIn(program));
    expect(acknowledged.filter((name) => !found.has(name))).toEqual([]);
    expect(acknowledged).not.toBeEmpty();
  });
});
