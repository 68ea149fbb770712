// A ban is stored with its key.
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { TestService } from "../../../test/harness/service.ts";
import { StorageUnavailable } from "../../storage/errors.ts";
import { DAY_MS, HOUR_MS } from "../../timing/clock.ts";

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

const quota = { perMinute: 10, perDay: 1_000_000 };
const newKey = () => service.newKey("enterprise", quota);
const get = (key: string, path = "/pets") => service.call("GET", path, { key });
const code = async (key: string) => (await get(key)).json.code;
/** Uses up the minute, and continues a second later. Returns the response to the last strike. */
async function offend(key: string) {
  for (let request = 0; request < quota.perMinute + 1; request++) await get(key);
  service.clock.advance(1_000);
  for (let strike = 1; strike < 20; strike++) expect(await code(key)).toBe("rate_limit_exceeded");
  return get(key);
}
const retryAfter = ({ headers }: { headers: Headers }) => Number(headers.get("retry-after"));
/** Bans a key, and returns how many seconds the ban lasts. */
async function ban(key: string): Promise<number> {
  const response = await offend(key);
  expect(response.json.code).toBe("key_banned");
  return retryAfter(response);
}

test("the last strike and all requests until the end of the ban are refused alike", async () => {
  const key = await newKey();
  const first = await offend(key);
  const limits = Object.fromEntries(
    ["limit", "remaining", "reset"].map((name) => [name, first.headers.get(`x-ratelimit-${name}`)]),
  );
  expect(limits).toEqual({ limit: "10", remaining: "0", reset: String(Math.ceil(service.clock.now() / 1000) + 60) });
  service.clock.advance(59_999);
  for (let request = 0; request < 50; request++) {
    const { json, headers } = await get(key);
    expect([json.code, headers.get("retry-after"), headers.get("x-ratelimit-reset")]).toEqual([
      "key_banned",
      "1",
      limits["reset"] as string,
    ]);
  }
  service.clock.advance(1);
  const after = await get(key);
  expect([after.status, after.headers.get("x-ratelimit-remaining")]).toEqual([200, "9"]);
});

test("each further ban lasts twice as long, up to an hour, until there was none for 24 hours", async () => {
  const key = await newKey();
  const lengths: number[] = [];
  for (let count = 0; count < 8; count++) {
    const seconds = await ban(key);
    lengths.push(seconds);
    expect((await get(key, "/key")).json.bans.next).toBe(Math.min(3_600, seconds * 2));
    service.clock.advance(seconds * 1_000);
  }
  expect(lengths).toEqual([60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
  service.clock.advance(DAY_MS - 1_001); // the offence itself takes a second
  expect(await ban(key)).toBe(3_600);
  service.clock.advance(3_600_000 + DAY_MS);
  expect((await get(key, "/key")).json.bans.next).toBe(60);
  expect(await ban(key)).toBe(60);
});

describe("if the store fails,", () => {
  test("the last strike is a 429 like the others, and strikes are counted from 0 again", async () => {
    const key = await newKey();
    spyOn(service.app.keys, "banKey").mockRejectedValueOnce(new StorageUnavailable("full"));
    expect((await offend(key)).json.code).toBe("rate_limit_exceeded");
    expect((await get(key, "/key")).json.strikes.count).toBe(0);
    expect(await code(key)).toBe("rate_limit_exceeded");
    service.clock.advance(1_000);
    for (let strike = 1; strike < 20; strike++) expect(await code(key)).toBe("rate_limit_exceeded");
    expect(await code(key)).toBe("key_banned");
  });
});

describe("if the wall clock is set", () => {
  test.each([-HOUR_MS, -DAY_MS, HOUR_MS])("by %p ms, a ban is over", async (milliseconds) => {
    const key = await newKey();
    await ban(key);
    service.clock.setWall(service.clock.now() + milliseconds);
    service.clock.advance(60_000); // the minute of the account ends in any case
    expect((await get(key)).status).toBe(200);
    expect((await get(key, "/key")).json.ban).toBeUndefined();
    service.clock.setWall(service.clock.now() - milliseconds);
  });

  test("back by a little, a ban keeps its end", async () => {
    const key = await newKey();
    const reset = (await offend(key)).headers.get("x-ratelimit-reset");
    service.clock.setWall(service.clock.now() - 5_000);
    const { json, headers } = await get(key);
    expect([json.code, headers.get("x-ratelimit-reset")]).toEqual(["key_banned", reset]);
  });
});

test("a process whose clock is up to ten seconds behind begins no second ban, and a later one does", async () => {
  const { key, record } = await service.newAccountWithKey("enterprise", quota, ["read"]);
  await ban(key);
  const until = service.clock.now() + 60_000;
  const banBy = (milliseconds: number) => service.app.keys.banKey(record.id, service.clock.now() - milliseconds);
  for (const behind of [1, 10_000]) expect(await banBy(behind)).toEqual({ until, seconds: undefined });
  expect((await get(key, "/key")).json.ban.endsAt).toBe(new Date(until).toISOString());
  expect(await banBy(10_001)).toEqual({ until: service.clock.now() - 10_001 + 120_000, seconds: 120 });
});

/** An account with a key that lists the others, two tills and a revoked key. That key and the first till are banned. */
async function newShop() {
  const { keys } = service.app;
  const { account, key: admin } = await service.newAccountWithKey("enterprise", quota, ["admin"]);
  const issue = (name: string) => {
    service.clock.advance(1_000); // keys are listed in the order of creation
    return keys.issueKey(account.id, name, ["read"], service.clock.now());
  };
  const [banned, other, ended] = [await issue("banned"), await issue("other"), await issue("ended")];
  await ban(banned.key);
  await get(ended.key);
  service.clock.advance(1_000);
  for (let strike = 0; strike < 20; strike++) await get(ended.key);
  await keys.revokeKey(ended.record.id, service.clock.now());
  service.clock.advance(58_000); // the account's minute window is over; the first ban lasts for another second
  return { admin, banned, other, ended };
}

const bansOf = async (key: string, path = "/keys?limit=100") =>
  Object.fromEntries((await get(key, path)).json.map((one: { name: string; ban?: object }) => [one.name, one.ban]));

test("listKeys returns the ban of a key until it ends, like getCurrentKey", async () => {
  const { admin, banned, other } = await newShop();
  const shown = (await get(banned.key, "/key")).json.ban;
  expect(shown).toEqual({
    reason: "It kept sending requests after a 429.",
    endsAt: new Date(service.clock.now() + 1_000).toISOString(),
  });
  expect((await get(other.key)).headers.get("x-ratelimit-remaining")).toBe("9"); // requests of a banned key do not count
  expect(await bansOf(admin)).toEqual({ test: undefined, banned: shown, other: undefined, ended: undefined });
  expect(await bansOf(admin, "/keys?limit=2")).toEqual({ test: undefined, banned: shown });
  service.clock.advance(1_000);
  expect((await bansOf(admin))["banned"]).toBeUndefined();
});

test("a ban continues after a restart", async () => {
  const { admin, banned } = await newShop();
  service = await service.restart();
  expect((await bansOf(admin))["banned"]).toBeDefined();
  expect(await code(banned.key)).toBe("key_banned");
});
