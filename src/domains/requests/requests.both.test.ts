import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { environment, newKeys } from "../../../test/harness/keys.ts";
import { nextOf } from "../../../test/harness/next-page.ts";
import { eventually, newDataDir, Program } from "../../../test/harness/program.ts";
import { type Call, TestService } from "../../../test/harness/service.ts";
import { onPostgres } from "../../../test/harness/test-store.ts";
import { unlimitedQuota } from "../../../test/harness/unlimited.ts";
import { addressQuota, type Quota, type Scope } from "../../contract/caller.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../timing/clock.ts";
import { generateApiKey } from "../keys/api-key.ts";
import { explain } from "./request-record.ts";
import { RequestStore } from "./requests.store.ts";
import { NO_SHOP, type StoredRequest } from "./stored-request.ts";

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());
/** Each test has its own second, because the number of records per key and second is limited. */
beforeEach(() => service.clock.advance(SECOND_MS));

interface Shop {
  readonly key: string;
  readonly keyId: string;
  readonly accountId: string;
}

async function newShop(quota: Quota = unlimitedQuota, scopes: readonly Scope[] = ["read", "write"]): Promise<Shop> {
  const { key, record, account } = await service.newAccountWithKey("enterprise", quota, scopes);
  return { key, keyId: record.id, accountId: account.id };
}

const send = (shop: Shop, method: string, path: string, call: Omit<Call, "key"> = {}) =>
  service.call(method, path, { key: shop.key, ...call });
const requestIdOf = ({ headers }: { headers: Headers }) => headers.get("x-request-id") as string;

/** The shop's records once there are this many. They are written twice a second. */
async function records(shop: Shop, count: number, query = "") {
  return eventually(
    async () => (await send(shop, "GET", `/requests?limit=100${query}`)).json,
    (found) => found.length >= count,
  );
}

/** The record of a reply, once it is written. */
async function recordOf(shop: Shop, reply: { headers: Headers }) {
  const id = requestIdOf(reply);
  await untilRecorded(id);
  return (await send(shop, "GET", `/requests/${id}`)).json;
}

const countOf = async (id: string) =>
  (await service.store.rows(`SELECT 1 FROM request_records WHERE id = '${id}'`)).length;

async function untilRecorded(id: string): Promise<void> {
  await eventually(async () => (await countOf(id)) > 0);
}

const animal = { name: "Ida", categoryId: 7 };

describe("listRequests", () => {
  test("returns changes and failures, newest first, and no successful reads", async () => {
    const shop = await newShop();
    const headers = { "X-Request-Id": "till-4711" };
    const created = await send(shop, "POST", "/pets", { body: animal, headers });
    await send(shop, "GET", "/pets/1");
    await send(shop, "GET", "/pets", { headers: { "If-None-Match": "*" } });
    await send(shop, "OPTIONS", "/pets/1");
    service.clock.advance(SECOND_MS);
    const missing = await send(shop, "GET", "/pets/99");
    expect(await records(shop, 2)).toEqual([
      expect.objectContaining({
        id: requestIdOf(missing),
        method: "GET",
        operation: "getPet",
        path: "/pets/99",
        keyId: shop.keyId,
        status: 404,
        code: "pet_not_found",
        stage: "handle",
        message: expect.stringMatching(/^No animal has the id 99\./),
        explanation: expect.stringMatching(/^The operation refused the request: No animal has the id 99\./),
      }),
      {
        id: requestIdOf(created),
        clientRequestId: "till-4711",
        at: new Date(service.clock.now() - SECOND_MS).toISOString(),
        method: "POST",
        operation: "createPet",
        path: "/pets",
        keyId: shop.keyId,
        address: "127.0.0.1",
        status: 201,
        durationMs: expect.any(Number),
        limit: Number(created.headers.get("x-ratelimit-limit")),
        remaining: Number(created.headers.get("x-ratelimit-remaining")),
        explanation: "createPet succeeded with status 201.",
      },
    ]);
  });

  test("filters by status, class, code, operation, key and time", async () => {
    const shop = await newShop();
    const issue = service.app.keys.issueKey(shop.accountId, "second", ["read", "write"], service.clock.now());
    const { record: second, key } = await issue;
    await send(shop, "POST", "/pets", { body: animal });
    await send(shop, "POST", "/pets", { body: {} });
    const middle = new Date(service.clock.now() + SECOND_MS).toISOString();
    service.clock.advance(SECOND_MS);
    await service.call("GET", "/pets/99", { key });
    await service.call("DELETE", "/pets/98", { key });
    await records(shop, 4);
    const found = async (query: string) =>
      (await records(shop, 0, `&${query}`)).map((one: { status: number }) => one.status);
    expect(await found("status=2xx")).toEqual([201]);
    expect(await found("status=4xx")).toEqual([404, 404, 400]);
    expect(await found("status=5xx")).toEqual([]);
    expect(await found("code=pet_not_found")).toEqual([404, 404]);
    expect(await found("operation=createPet")).toEqual([400, 201]);
    expect(await found(`keyId=${second.id}`)).toEqual([404, 404]);
    expect(await found(`since=${middle}`)).toEqual([404, 404]);
    expect(await found(`until=${middle}`)).toEqual([400, 201]);
    expect(await found(`until=${middle}&status=2xx&operation=createPet&keyId=${shop.keyId}`)).toEqual([201]);
    expect(await found(`since=${middle}&until=${middle}`)).toEqual([]);
  });

  test("is paged, also with a filter", async () => {
    const shop = await newShop();
    for (let id = 1; id <= 9; id++) {
      await send(shop, "GET", `/pets/${id}`);
      if (id % 4 === 0) service.clock.advance(SECOND_MS);
    }
    const whole = await records(shop, 9);
    for (const query of ["", "&code=pet_not_found", `&until=${new Date(service.clock.now() + 1).toISOString()}`]) {
      const walked: unknown[] = [];
      let path: string | undefined = `/requests?limit=2${query}`;
      while (path) {
        const { json, headers } = await send(shop, "GET", path);
        expect(json.length).toBeLessThan(3);
        walked.push(...json);
        path = nextOf({ headers });
      }
      expect(walked).toEqual(whole);
    }
  });

  test("can be read with a limited or banned key, and uses no quota", async () => {
    const shop = await newShop({ perMinute: 1, perDay: 100 });
    await send(shop, "GET", "/pets");
    const limited = await send(shop, "GET", "/pets");
    expect(limited.status).toBe(429);
    await untilRecorded(requestIdOf(limited));
    expect((await send(shop, "GET", `/requests/${requestIdOf(limited)}`)).json.status).toBe(429);
  });
});

const operatorMayHelp =
  "Wait as many seconds as Retry-After says, then send it again. If it still fails, ask the operator of the service.";

describe("a record explains", () => {
  test("the invalid fields", async () => {
    const shop = await newShop();
    const record = await recordOf(shop, await send(shop, "POST", "/pets?strict=1", { body: { name: "" } }));
    expect(record).toMatchObject({ stage: "readInput", code: "invalid_request" });
    expect(record.details).toHaveLength(3);
    expect(record.explanation).toMatch(/^The input is invalid: .*\/query\/strict .*; .*\/body\/categoryId is required/);
    expect(record.advice).toBe("Correct every field named in the details.");
  });

  test("a misspelled parameter, without a full stop after the question", async () => {
    const shop = await newShop();
    const record = await recordOf(shop, await send(shop, "GET", "/pets?statsu=sold"));
    expect(record.explanation).toEndWith(
      "/query/statsu is not a query parameter of this operation; did you mean status?",
    );
  });

  test("a conflict with the resource's state", async () => {
    const shop = await newShop();
    await send(shop, "POST", "/pets", { body: { ...animal, status: "available" } });
    await send(shop, "POST", "/store/orders", { body: { petId: 1 } });
    const record = await recordOf(shop, await send(shop, "DELETE", "/pets/1"));
    expect(record).toMatchObject({ stage: "handle", code: "pet_has_open_order", path: "/pets/1" });
    expect(record.explanation).toStartWith("The operation refused the request: The animal 1 has an open order");
    expect(record.advice).toStartWith("The message says what stands in the way");
  });

  test.each([
    ["GET", "/nothing", "resolve", "path_not_found", /has this path and method: There is nothing at "\/v1\/nothing"/],
    ["PUT", "/pets", "resolve", "method_not_allowed", /has this path and method: This path does not support PUT/],
    ["POST", "/pets", "resolve", "insufficient_scope", /lacks the scope write/],
  ])("why %s %s did not match", async (method, path, stage, code, words) => {
    const shop = await newShop(unlimitedQuota, ["read"]);
    const record = await recordOf(shop, await send(shop, method, path));
    expect(record).toMatchObject({ stage, code, advice: expect.any(String) });
    expect(record.explanation).toMatch(words);
  });

  test("that an operation was removed, and that no part of the request is wrong", async () => {
    const later = await TestService.start();
    later.clock.advance(Date.UTC(2030, 11, 5) - later.clock.now());
    const key = await later.newKey();
    expect((await later.call("GET", "/pets/1", { key })).json.code).toBe("operation_removed");
    const [record] = await eventually(
      async () => (await later.call("GET", "/requests", { key })).json,
      (found) => found.length > 0,
    );
    expect(record.explanation).toStartWith(
      "No operation that the key may call has this path and method: The operation was removed on 2030-12-05.",
    );
    await later.stop();
  });

  test.each([
    [
      { perMinute: 1, perDay: 100 },
      /^A limit rejected the request: 1 request per minute for all keys of the shop together\. Try again in 60 seconds\.$/,
    ],
    [
      { perMinute: 100, perDay: 1 },
      /^A limit rejected the request: 1 request per day for .* Try again in \d{4,5} seconds\.$/,
    ],
  ])("the limit that was reached: %j", async (quota, words) => {
    const shop = await newShop(quota);
    await send(shop, "GET", "/pets");
    const record = await recordOf(shop, await send(shop, "GET", "/pets"));
    expect(record).toMatchObject({ stage: "admit", code: "rate_limit_exceeded", remaining: 0 });
    expect(record.explanation).toMatch(words);
    expect(record.advice).toContain("Retry-After");
  });

  test("a ban", async () => {
    const shop = await newShop({ perMinute: 1, perDay: 100 });
    await send(shop, "GET", "/pets");
    await send(shop, "GET", "/pets");
    service.clock.advance(2 * SECOND_MS);
    let reply = await send(shop, "GET", "/pets");
    for (let strike = 0; strike < 30 && reply.json.code !== "key_banned"; strike++)
      reply = await send(shop, "GET", "/pets");
    service.clock.advance(SECOND_MS);
    const record = await recordOf(shop, await send(shop, "GET", "/pets"));
    expect(record.code).toBe("key_banned");
    expect(record.explanation).toMatch(
      /^The key was banned for another \d+ seconds, because it kept sending requests after a 429\.$/,
    );
  });

  test.each([
    ["storage_unavailable", 503],
    ["invalid_request", 400],
  ])("a simulated error: %s", async (code, status) => {
    const shop = await newShop();
    const headers = { "Petstore-Simulate": code };
    const record = await recordOf(shop, await send(shop, "POST", "/pets", { body: animal, headers }));
    expect(record).toMatchObject({ stage: "simulate", status });
    expect(record.explanation).toStartWith("The request asked for this error with Petstore-Simulate:");
  });

  test.each([
    [
      "/pets",
      "storage_unavailable",
      503,
      "Send it again. With the same Idempotency-Key, a POST or PATCH takes effect once.",
    ],
    ["/events/stream", "streams_exhausted", 503, operatorMayHelp],
    ["/webhook-endpoints", "webhooks_unavailable", 503, operatorMayHelp],
    ["/events/stream", "too_many_streams", 429, "Close the streams that you no longer need, or wait until some end."],
    [
      "/events",
      "events_expired",
      410,
      "Note the id of the newest event, read the whole shop, and continue after that id.",
    ],
  ])("what a client of %s can do about %s", async (path, code, status, advice) => {
    const shop = await newShop(unlimitedQuota, ["read", "admin"]);
    const record = await recordOf(shop, await send(shop, "GET", path, { headers: { "Petstore-Simulate": code } }));
    expect(record).toMatchObject({ code, status, advice });
  });

  test("what to do about a lost response", async () => {
    const shop = await newShop();
    const headers = { "Petstore-Simulate": "disconnect" };
    expect(await send(shop, "POST", "/pets", { body: animal, headers }).catch(() => "closed")).toBe("closed");
    const [record] = await records(shop, 1);
    expect(record.explanation).toBe("The request asked for a closed connection with Petstore-Simulate.");
    expect(record.advice).toStartWith("Send it again. With the same Idempotency-Key");
  });

  test("an idempotent replay", async () => {
    const shop = await newShop();
    const call = { body: animal, headers: { "Idempotency-Key": "one" } };
    await send(shop, "POST", "/pets", call);
    const record = await recordOf(shop, await send(shop, "POST", "/pets", call));
    expect(record).toMatchObject({ status: 201, explanation: expect.stringContaining("Nothing was changed.") });
  });
});

describe("getRequest", () => {
  test("returns 404 for a request of another shop or one that was not recorded", async () => {
    const [one, other] = [await newShop(), await newShop()];
    const reply = await send(one, "GET", "/pets/5");
    await recordOf(one, reply);
    for (const id of [requestIdOf(reply), "5f0c2a91-zz"]) {
      const foreign = await send(other, "GET", `/requests/${id}`);
      expect([foreign.status, foreign.json.code]).toEqual([404, "request_not_found"]);
    }
    const listed = await send(other, "GET", "/requests?code=pet_not_found");
    expect(listed.json).toEqual([]);
  });
});

describe("a request without a valid key", () => {
  test("is recorded for operators, and is in no shop", async () => {
    const shop = await newShop();
    const replies = [await service.call("GET", "/pets"), await service.call("GET", "/pets", { key: "wrong" })];
    const storage = await service.store.open();
    const store = new RequestStore(storage);
    for (const [index, reply] of replies.entries()) {
      await untilRecorded(requestIdOf(reply));
      const found = await store.find(requestIdOf(reply));
      const code = ["missing_api_key", "invalid_api_key"][index] as string;
      expect(found).toMatchObject({
        shop: NO_SHOP,
        code,
        keyId: "",
        facts: { stage: "identify", address: "127.0.0.1" },
      });
      expect((await send(shop, "GET", `/requests/${requestIdOf(reply)}`)).status).toBe(404);
    }
    await storage.close();
  });
});

test("the daily limit of an address is explained as such, even in the last minute of the day", async () => {
  const evening = await TestService.start();
  const moveTo = (time: string) => evening.clock.advance(Date.parse(`2026-11-22T${time}.000Z`) - evening.clock.now());
  moveTo("23:30:00");
  let sent = 0;
  for (; sent < addressQuota.perDay; sent += addressQuota.perMinute) {
    const many = Math.min(addressQuota.perMinute, addressQuota.perDay - sent);
    await Promise.all(Array.from({ length: many }, () => evening.call("GET", "/pets")));
    evening.clock.advance(MINUTE_MS);
  }
  moveTo("23:59:30");
  const limited = await evening.call("GET", "/pets");
  expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "30"]);
  const storage = await evening.store.open();
  const found = await eventually(() => new RequestStore(storage).find(requestIdOf(limited)));
  expect(explain(found as StoredRequest)).toContain(" 1000 requests per day for one address without a valid key.");
  await storage.close();
  await evening.stop();
});

describe("records contain", () => {
  test("no key, no body and no query, wherever a client puts them", async () => {
    const shop = await newShop();
    // The key does not exist: responses repeat the client's input, and no response may contain an existing key.
    const typed = generateApiKey("test", "00");
    const replies = [
      await send(shop, "GET", `/${typed}`),
      await send(shop, "GET", `/pets/${typed}`),
      await send(shop, "GET", `/pets?${typed}=1&limit=${typed}`),
      await send(shop, "POST", "/pets", { body: { [typed]: 1, name: "hunter2-name", categoryId: "hunter2-id" } }),
      await send(shop, "POST", "/pets", { body: '{"hunter2-broken' }),
      await send(shop, "POST", "/pets", {
        body: { ...animal, name: "hunter2-good" },
        headers: { "X-Request-Id": typed },
      }),
    ];
    for (const reply of replies) await untilRecorded(requestIdOf(reply));
    const kept = JSON.stringify(await service.store.rows("SELECT facts, code, id, key_id FROM request_records"));
    expect(kept).toContain(requestIdOf(replies[0] as never));
    expect(kept).not.toContain(typed.slice(-30));
    expect(kept).not.toContain(shop.key.slice(-30));
    expect(kept).not.toContain("hunter2");
  });

  test.each([
    ["GET", "/pets/9223372036854775807"],
    ["DELETE", "/categories/-5"],
    ["GET", "/requests/0f3a9c2e7b1d5f8a6c4e"],
    ["DELETE", "/keys/key_5fQ0c2mN8xWbT1Lz"],
    ["GET", "/webhook-endpoints/we_5f0c2a8e1b7d94c3a6e0f1d2"],
    ["GET", "/webhook-endpoints/we_5f0c2a8e1b7d94c3a6e0f1d2/deliveries/7"],
  ])("the path with the id of a resource: %s %s", async (method, path) => {
    const shop = await newShop(unlimitedQuota, ["read", "write", "admin"]);
    expect((await recordOf(shop, await send(shop, method, path))).path).toBe(path);
  });

  test("any characters without harm", async () => {
    const shop = await newShop();
    const names = ["__proto__", "'); DROP TABLE request_records; --", "<b>", "\u202E\u0007", "😀".repeat(70), '"\\'];
    for (const name of names) {
      service.clock.advance(SECOND_MS);
      const record = await recordOf(shop, await send(shop, "POST", "/pets", { body: `{${JSON.stringify(name)}: 1}` }));
      expect(record.details.length).toBeGreaterThan(0);
    }
  });
});

test("no address is recorded if it is not logged", async () => {
  const silent = await TestService.start({ settings: { PETSTORE_LOG_ADDRESSES: "false" } });
  try {
    const key = await silent.newKey();
    await silent.call("GET", "/pets/5", { key });
    for (;;) {
      const { json } = await silent.call("GET", "/requests", { key });
      if (json.length === 0) continue;
      expect(json[0].address).toBeUndefined();
      break;
    }
  } finally {
    await silent.stop();
  }
});

test("a record is returned with 304 for its entity tag", async () => {
  const shop = await newShop();
  const id = requestIdOf(await send(shop, "GET", "/pets/5"));
  await untilRecorded(id);
  const tag = (await send(shop, "GET", `/requests/${id}`)).headers.get("etag") ?? "";
  const { status, text } = await send(shop, "GET", `/requests/${id}`, { headers: { "If-None-Match": tag } });
  expect([status, text]).toEqual([304, ""]);
});

test("records survive a restart, and those in memory are written before it", async () => {
  const shop = await newShop();
  const reply = await send(shop, "GET", "/pets/5");
  service = await service.restart();
  expect((await send(shop, "GET", `/requests/${requestIdOf(reply)}`)).json.code).toBe("pet_not_found");
});

// On PostgreSQL, the store is shared.
test.skipIf(onPostgres)("records that were returned survive a kill", async () => {
  const dataDir = newDataDir();
  let program = await Program.start(dataDir, environment);
  const [key = ""] = await newKeys(dataDir, unlimitedQuota, 1);
  const headers = { Authorization: `Bearer ${key}` };
  await fetch(`${program.base}/pets/5`, { headers });
  const list = async () => (await (await fetch(`${program.base}/requests`, { headers })).json()) as unknown[];
  let before = await list();
  while (before.length === 0) before = await list();
  program.child.kill("SIGKILL");
  await program.child.exited;
  program = await Program.start(dataDir, environment);
  expect(await list()).toEqual(before);
  await program.end();
});

test("records are deleted after seven days", async () => {
  const shop = await newShop();
  const reply = await send(shop, "GET", "/pets/5");
  await untilRecorded(requestIdOf(reply));
  service.clock.advance(7 * DAY_MS - SECOND_MS);
  const later = await send(shop, "GET", "/pets/6");
  await untilRecorded(requestIdOf(later));
  expect((await send(shop, "GET", `/requests/${requestIdOf(reply)}`)).status).toBe(200);
  service.clock.advance(2 * SECOND_MS + 60_000);
  await eventually(async () => (await countOf(requestIdOf(reply))) === 0);
  expect((await send(shop, "GET", `/requests/${requestIdOf(later)}`)).status).toBe(200);
});
