// Sandboxes of processes that share PostgreSQL and Valkey: fast-forwards, a new start, and accounts that are deleted.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { stopwatch } from "../harness/cpu-time.ts";
import { Load } from "../harness/load.ts";
import { nextOf } from "../harness/next-page.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { countedTogether, endAll, newAccount, startSeveral } from "../harness/processes.ts";
import { eventually, type Program } from "../harness/program.ts";
import { EVERYWHERE_WITHIN } from "../harness/test-length.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";
import { hasValkey, ValkeyServer } from "../harness/valkey-server.ts";

const PROCESSES = 4;

interface Received {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects of it
  readonly json: any;
}

/** Sends a request over a separate connection. */
async function send(base: string, key: string, method: string, path: string, body?: unknown): Promise<Received> {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const response = await fetch(base + path, {
    method,
    headers,
    keepalive: false,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    json: text === "" ? undefined : JSON.parse(text),
  };
}

describe.skipIf(postgresMissing !== undefined || !hasValkey)("sandboxes of many processes", () => {
  let postgres: PostgresServer;
  let valkey: ValkeyServer;
  let settings: Record<string, string>;
  let database: string;
  let programs: Program[];
  beforeAll(async () => {
    [postgres, valkey] = await Promise.all([PostgresServer.start(), ValkeyServer.start()]);
    database = await postgres.newDatabase();
    settings = {
      PETSTORE_ENV: "staging",
      PETSTORE_DATABASE_URL: postgres.url(database),
      PETSTORE_VALKEY_URL: valkey.url,
    };
    await (await newAccount(settings, unlimitedQuota)).storage.close(); // which makes the store
    programs = await startSeveral(PROCESSES, settings);
  });
  afterAll(async () => {
    expect(await endAll(programs)).toEqual(Array(PROCESSES).fill(0));
    await Promise.all([postgres.remove(), valkey.stop()]);
  });

  async function newSandbox() {
    const account = await newAccount(settings, unlimitedQuota);
    let sent = 0;
    /** Sends a request to the process whose turn it is. */
    const call = (method: string, path: string, body?: unknown) =>
      send(programs[sent++ % PROCESSES]?.base ?? "", account.key, method, path, body);
    return {
      ...account,
      call,
      forward: (seconds: number) => call("POST", "/sandbox/fast-forward", { seconds }),
      ofEach: (path: string) => Promise.all(programs.map(({ base }) => send(base, account.key, "GET", path))),
    };
  }

  test("an order expires at once for all after a fast-forward by 900 s", async () => {
    const { call, forward, ofEach, storage } = await newSandbox();
    await call("POST", "/pets", { name: "Rex", categoryId: 1, status: "available" });
    expect((await call("POST", "/store/orders", { petId: 1 })).status).toBe(201);
    expect((await call("GET", "/pets/1")).json.status).toBe("pending");
    expect((await forward(900)).status).toBe(200);
    expect((await call("GET", "/pets/1")).json.status).toBe("available");
    for (const { json } of await ofEach("/store/orders/1")) expect(json.status).toBe("expired");
    await storage.close();
  });

  test("20 fast-forwards a minute are served for the sandboxes of an account, by all processes together", async () => {
    const [statuses, ofOther] = await countedTogether(programs, async () => {
      const { call, storage } = await newSandbox();
      const invalid = async () => (await call("POST", "/sandbox/fast-forward", { seconds: 0 })).status;
      const all = await Promise.all(Array.from({ length: 60 }, invalid));
      const { status } = await call("GET", "/pets");
      await storage.close();
      return [all, status];
    });
    expect(statuses.filter((status) => status === 400)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
    expect(ofOther).toBe(200);
  });

  test("after a reset, all processes have the new data, which contains no write that was answered before it", async () => {
    const { call, ofEach, storage } = await newSandbox();
    const create = (name: string) => call("POST", "/pets", { name, categoryId: 1 });
    for (let round = 0; round < 3; round++) {
      const seen = new Set<number>();
      let sent = 0;
      const answered: string[] = [];
      const writers = new Load(
        24,
        async () => {
          const name = `in flight ${++sent}`;
          seen.add((await create(name)).status);
          answered.push(name);
        },
        0,
      );
      await eventually(() => answered.length > 300);
      const cursor = /cursor=([^>&]+)/.exec((await call("GET", "/pets?limit=1")).headers.get("link") ?? "")?.[1];
      const early = [...answered];
      const { status } = await call("POST", "/sandbox/reset", { animals: "none" });
      // Writers have gone on, so that writes were on their way at each moment.
      const ended = writers.end();
      const after = await Promise.all(Array.from({ length: 40 }, (_, number) => create(`after ${number}`)));
      await ended;
      expect([status, seen.isSubsetOf(new Set([201, 409]))]).toEqual([200, true]);
      expect(after.filter((response) => response.status !== 201)).toEqual([]);

      const shown: { id: number; name: string }[] = [];
      for (let path: string | undefined = "/pets?limit=100"; path; ) {
        const { json, headers } = await call("GET", path);
        shown.push(...json);
        path = nextOf({ headers });
      }
      expect(shown.map(({ id }) => id)).toEqual(shown.map((_, index) => index + 1));
      const names = new Set(shown.map(({ name }) => name));
      expect(after.map(({ json }) => json.name).filter((name) => !names.has(name))).toEqual([]);
      expect(early.filter((name) => names.has(name))).toEqual([]);
      for (const response of await ofEach(`/pets?limit=1&cursor=${cursor}`)) expect(response.status).toBe(400);
    }
    // What is left of the old data is deleted, and nothing is added to it after that.
    const left = () => postgres.run("SELECT shop FROM shops WHERE account_id IS NULL", database);
    await eventually(left, (rows) => rows.length === 0);
    const orphans = "SELECT id FROM pets WHERE shop NOT IN (SELECT shop FROM shops)";
    expect(await postgres.run(orphans, database)).toEqual([]);
    await storage.close();
  });

  test("keys of a deleted account stop working within a second in each process; then none of its data is left", async () => {
    const { account, accounts, call, ofEach, storage } = await newSandbox();
    await call("POST", "/pets", { name: "Vanishing", categoryId: 1 });
    const elapsed = stopwatch(...programs.map(({ child }) => child.pid));
    await accounts.delete(account.id, Date.now());
    // Unknown keys use up the limit of the address within a second: then they get 429. The account has no limit.
    await eventually(
      () => ofEach("/pets"),
      (all) => all.every(({ status }) => status === 401 || status === 429),
    );
    expect(elapsed()).toBeLessThan(EVERYWHERE_WITHIN);
    const deleted = `"account_deleted","accountId":"${account.id}"`;
    await eventually(() => programs.some(({ output }) => output.includes(deleted)));
    const tables = await postgres.run<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
      database,
    );
    for (const { name } of tables) {
      const rows = await postgres.run<{ row: string }>(`SELECT t::text AS row FROM ${name} AS t`, database);
      expect([name, rows.filter(({ row }) => row.includes(account.id) || row.includes("Vanishing"))]).toEqual([
        name,
        [],
      ]);
    }
    expect(await valkey.command("KEYS", `*${account.id}*`)).toEqual([]);
    await storage.close();
  });
});
