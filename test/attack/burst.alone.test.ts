// Bursts over 50 connections: exactly the limit is admitted, never one more.
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import type { Quota } from "../../src/contract/caller.ts";
import { WindowLimiter } from "../../src/limits/limiter.ts";
import { environment, newKeys } from "../harness/keys.ts";
import { newDataDir, Program } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";
import { rounds } from "../harness/test-length.ts";
import { UNLIMITED } from "../harness/unlimited.ts";
import { type BriefResponse, sendAll } from "./keep-alive.ts";

const CONNECTIONS = 50;
const LIMIT = 100;
const minute: Quota = { perMinute: LIMIT, perDay: UNLIMITED };
const day: Quota = { perMinute: UNLIMITED, perDay: LIMIT };

/** Sends this many requests over 50 connections at once, with the keys in turn; undefined is an anonymous client. */
async function burst(port: number, size: number, keys: readonly (string | undefined)[]): Promise<BriefResponse[]> {
  const requests = Array.from({ length: size }, (_, index) => keys[index % keys.length]);
  return sendAll(port, CONNECTIONS, requests, (connection, key) =>
    connection.send("GET", "/v1/pets?limit=1", key === undefined ? {} : { Authorization: `Bearer ${key}` }),
  );
}

function count(responses: readonly BriefResponse[], status: number): number {
  return responses.filter((response) => response.status === status).length;
}

/** Each admitted request has counted one: every figure below the limit was shown once. */
function expectExactly(limit: number, responses: readonly BriefResponse[], status = 200): void {
  const admitted = responses.filter((response) => response.status === status);
  const remaining = admitted.map(({ headers }) => Number(headers.get("x-ratelimit-remaining")));
  expect(remaining.toSorted((a, b) => a - b)).toEqual(Array.from({ length: limit }, (_, index) => index));
  expect(count(responses, 429)).toBe(responses.length - limit);
}

describe("a burst over 50 connections admits exactly", () => {
  let program: Program;
  const start = async (dataDir: string) => {
    program = await Program.start(dataDir, environment);
  };
  const port = () => Number(new URL(program.base).port);
  beforeAll(() => start(newDataDir()));
  afterAll(() => program.end());

  test.each<[string, Quota, number]>([
    ["the minute's limit", minute, 1],
    ["the minute's limit of one account with several keys", minute, 7],
    ["the day's limit", day, 1],
    ["the day's limit of one account with several keys", day, 7],
    ["one request, if the limit is one, with a key for each connection", { perMinute: 1, perDay: 1 }, CONNECTIONS],
  ])("%s", async (_which, quota, keyCount) => {
    for (let round = 0; round < rounds(1, 30); round++) {
      const keys = await newKeys(program.dataDir, quota, keyCount);
      expectExactly(Math.min(quota.perMinute, quota.perDay), await burst(port(), 3 * LIMIT, keys));
    }
  });

  test("each account's own limit, for several at once", async () => {
    const accounts = await Promise.all([minute, day, minute].map((quota) => newKeys(program.dataDir, quota, 2)));
    const bursts = await Promise.all(accounts.map((keys) => burst(port(), 3 * LIMIT, keys)));
    for (const responses of bursts) expectExactly(LIMIT, responses);
  });

  test("the limit of an address, without a key", async () => {
    expectExactly(60, await burst(port(), 3 * LIMIT, [undefined]), 401);
  });

  test("the rest of the limit from before a restart", async () => {
    const keys = await newKeys(program.dataDir, day, 3);
    expect(count(await burst(port(), LIMIT / 2, keys), 200)).toBe(LIMIT / 2);
    await program.end();
    await start(program.dataDir);
    expectExactly(LIMIT / 2, await burst(port(), 3 * LIMIT, keys));
  });
});

test("control: fails if deciding and counting are two steps", async () => {
  const service = await TestService.start();
  const used = new Map<string, number>();
  using _ = spyOn(WindowLimiter.prototype, "admit").mockImplementation(async ({ accountId, perMinute }) => {
    const before = used.get(accountId) ?? 0;
    await new Promise(setImmediate);
    used.set(accountId, before + 1);
    const figures = { limit: perMinute, remaining: Math.max(0, perMinute - before - 1), reset: 1 };
    return before < perMinute
      ? { ...figures, verdict: "admitted", retryAfter: 0 }
      : { ...figures, verdict: "limited", retryAfter: 1, window: "minute" };
  });
  const responses = await burst(service.app.port, 3 * LIMIT, [await service.newKey("enterprise", minute)]);
  expect(count(responses, 200)).toBeGreaterThan(LIMIT);
  await service.stop();
});
