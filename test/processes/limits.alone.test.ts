// What processes count together, in a Valkey or Redis server.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { CurrentKeyBody } from "../../src/domains/keys/current-key.operations.ts";
import { Client } from "../harness/client.ts";
import { environment, newKeyIn } from "../harness/keys.ts";
import { Load } from "../harness/load.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { ask, askEach, countedTogether, endAll, startSeveral, untilAlone } from "../harness/processes.ts";
import { eventually, newDataDir, type Program } from "../harness/program.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";
import { hasValkey, ValkeyServer } from "../harness/valkey-server.ts";

const PROCESSES = 4;
const CONNECTIONS = 50;
const limitHeaders = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

const isBanned = (text: string) => text.includes('"key_banned"');
/** True if all of these are this end of a ban, in seconds. */
const isEndOfAll = (all: readonly number[], end: number) => end > 0 && all.every((one) => one === end);

describe.skipIf(postgresMissing !== undefined || !hasValkey)("the limits of several processes", () => {
  let postgres: PostgresServer;
  let valkey: ValkeyServer;
  let settings: Record<string, string>;
  let programs: Program[];
  beforeAll(async () => {
    [postgres, valkey] = await Promise.all([PostgresServer.start(), ValkeyServer.start()]);
    settings = {
      ...environment,
      PETSTORE_DATABASE_URL: postgres.url(await postgres.newDatabase()),
      PETSTORE_VALKEY_URL: valkey.url,
    };
  });
  afterAll(() => Promise.all([postgres.remove(), valkey.stop()]));
  beforeEach(async () => {
    programs = await startSeveral(PROCESSES, settings);
  });
  const endedWell = async () => expect(await endAll(programs)).toEqual(Array(PROCESSES).fill(0));
  afterEach(endedWell);

  const baseOf = (index: number) => programs[index % PROCESSES]?.base ?? "";
  const newKey = async (quota = unlimitedQuota) => (await newKeyIn(newDataDir(), { quota, settings })).key;
  const texts = async (one: string) => Promise.all((await askEach(programs, one)).map((response) => response.text()));

  /** The remaining requests that each response to a burst shows. */
  async function burst(limit: number): Promise<string[]> {
    const key = await newKey({ ...unlimitedQuota, perMinute: limit });
    const remaining: string[] = [];
    const send = async (index: number) => {
      const base = baseOf(index);
      for (;;) {
        const response = await fetch(`${base}/pets?limit=1`, { headers: { Authorization: `Bearer ${key}` } });
        await response.text();
        if (response.status === 429) return;
        expect(response.status).toBe(200);
        remaining.push(response.headers.get("x-ratelimit-remaining") ?? "");
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => send(index)));
    return remaining;
  }

  test("admit exactly the limit over 50 connections", async () => {
    const limit = 300;
    const remaining = await countedTogether(programs, () => burst(limit));
    expect(remaining.toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: limit }, (_, index) => String(index)),
    );
  });

  test("ban a key in all processes, and keep the ban and the counts when all processes end", async () => {
    const key = await newKey({ ...unlimitedQuota, perMinute: 20 });
    const other = await countedTogether(programs, async () => {
      const counted = await newKey();
      for (let count = 0; count < 5; count++) expect((await ask(baseOf(count), counted)).status).toBe(200);
      return counted;
    });
    await eventually(async () => (await ask(baseOf(0), key)).text(), isBanned);
    /** When the ban ends, in seconds, as each process says; 0 if it gives another response. */
    const ends = async () =>
      Promise.all(
        (await askEach(programs, key)).map(async (response) =>
          isBanned(await response.text()) ? Number(response.headers.get("x-ratelimit-reset")) : 0,
        ),
      );
    const [end = 0] = await eventually(ends, (all) => isEndOfAll(all, all[0] ?? 0));
    await endedWell();
    programs = await startSeveral(PROCESSES, settings);
    await eventually(ends, (all) => isEndOfAll(all, end)); // these requests could cause a new ban, which ends later
    const body = await countedTogether(programs, async () => (await ask(baseOf(0), other, "/key")).json());
    expect((body as CurrentKeyBody).limits.day.used).toBe(5);
  });

  test("include a key's own, which PATCH changes for all processes", async () => {
    const [before, admitted, after] = await countedTogether(programs, async () => {
      const { key, id } = await newKeyIn(newDataDir(), { quota: unlimitedQuota, settings, scopes: ["read", "admin"] });
      const patched = await fetch(`${baseOf(0)}/keys/${id}`, {
        method: "PATCH",
        headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
        body: JSON.stringify({ limitPerMinute: 100 }),
      });
      expect(patched.status).toBe(200);
      const shown = () =>
        Promise.all(programs.map(async ({ base }) => (await ask(base, key)).headers.get("x-ratelimit-limit")));
      await eventually(shown, (limits) => limits.every((limit) => limit === "100"));
      const used = async () => ((await (await ask(baseOf(1), key, "/key")).json()) as CurrentKeyBody).limits.key?.used;
      const usedBefore = await used();
      const all = await Promise.all(Array.from({ length: 200 }, (_, index) => ask(baseOf(index), key)));
      return [usedBefore, all.filter(({ status }) => status === 200).length, await used()];
    });
    expect(admitted).toBe(100 - Number(before));
    expect(after).toBe(100);
  });

  test("are new when Valkey has lost its data, and every ban still holds", async () => {
    const quota = { perMinute: 20, perDay: 100 };
    const [banned, key] = [await newKey(quota), await newKey(quota)];
    await eventually(async () => (await texts(banned)).every(isBanned));
    await eventually(async () => (await ask(baseOf(0), key)).status === 429);
    await valkey.kill();
    await untilAlone(programs, true);
    await valkey.restart();
    await untilAlone(programs, false);
    expect((await texts(banned)).filter((text) => !isBanned(text))).toEqual([]);
    const ofKey = await countedTogether(programs, () => askEach(programs, key));
    expect(ofKey.map(({ status }) => status)).toEqual(Array(PROCESSES).fill(200));
  });

  test.each([
    ["killed", () => valkey.kill(), () => valkey.restart()],
    ["frozen", () => valkey.freeze(), () => valkey.thaw()],
  ] as const)(
    "go on when the server is %s under load, and count together again when it is back",
    async (_how, harm, mend) => {
      const key = await newKey();
      const clients = programs.map(({ base }) => new Client(base, key));
      const wrong: unknown[] = [];
      let responses = 0;
      const load = new Load(16, async (index) => {
        const { status, headers, text } = await (clients[index % PROCESSES] as Client).call("GET", "/pets?limit=1");
        responses++;
        if (status !== 200 || !limitHeaders.every((name) => /^\d+$/.test(headers.get(name) ?? ""))) {
          wrong.push({ status, text, headers: limitHeaders.map((name) => headers.get(name)) });
        }
      });
      const more = async () => {
        const wanted = responses + 200;
        await eventually(() => responses >= wanted);
      };
      await more();
      await harm();
      await untilAlone(programs, true);
      await more();
      await mend();
      await untilAlone(programs, false);
      await more();
      await load.end();
      expect(wrong).toEqual([]);
      for (const program of programs) {
        for (const event of ["limits_not_shared", "limits_shared_again"]) {
          await program.until(() => program.output.includes(event));
        }
      }
    },
  );
});
