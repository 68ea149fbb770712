// A key may have a limit of its own, so that a script that runs wild does not stop the till.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../../../test/harness/program.ts";
import { TestService } from "../../../test/harness/service.ts";
import { onPostgres } from "../../../test/harness/test-store.ts";
import { scopes } from "../../contract/caller.ts";

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

const plan = { perMinute: 10, perDay: 1_000 };

/** A new account: the key of its till, and a script's that may send 3 requests a minute. */
async function newShop(limitPerMinute = 3) {
  const { key: till, record } = await service.newAccountWithKey("enterprise", plan, [...scopes]);
  const call = (method: string, path: string, body?: object, key = till) => service.call(method, path, { key, body });
  const create = (body: object, key = till) => call("POST", "/keys", { name: "script", scopes, ...body }, key);
  const patch = (id: string, limit: unknown, key = till) =>
    call("PATCH", `/keys/${id}`, { limitPerMinute: limit }, key);
  const { key: script, id, ...shown } = (await create({ limitPerMinute })).json;
  service.clock.advance(60_000); // a new minute, without the requests so far
  return { till, tillId: record.id, script, id, shown, call, create, patch };
}

const windowOf = ({ headers }: { readonly headers: Headers }) =>
  ["limit", "remaining"].map((name) => Number(headers.get(`x-ratelimit-${name}`)));

test("its requests beyond the limit are refused, and those of others are not", async () => {
  const { till, script, id, call } = await newShop();
  const list = (key: string) => call("GET", "/pets", undefined, key);
  expect(windowOf(await list(script))).toEqual([3, 2]);
  expect(windowOf(await list(till))).toEqual([10, 8]);
  await list(script);
  expect(windowOf(await list(script))).toEqual([3, 0]);
  service.clock.advance(20_000);
  const refused = await list(script);
  expect([refused.status, refused.headers.get("retry-after"), windowOf(refused)]).toEqual([429, "40", [3, 0]]);
  expect(refused.json.message).toBe("The 3 requests of the key's own minute are used up. Try again in 40 seconds.");
  expect(windowOf(await list(till))).toEqual([10, 5]);
  const { limits } = (await call("GET", "/key", undefined, script)).json;
  expect(limits.key).toEqual({ limit: 3, used: 3, remaining: 0, reset: Math.ceil(service.clock.now() / 1000) + 40 });
  expect((await call("GET", "/key")).json.limits).not.toHaveProperty("key");
  expect((await call("GET", "/keys")).json.find((one: { id: string }) => one.id === id).limitPerMinute).toBe(3);
  const record = await eventually(
    () => {
      service.clock.advance(60_000); // looks count, too
      return call("GET", `/requests/${refused.headers.get("x-request-id")}`);
    },
    ({ status }) => status === 200,
  );
  expect(record.json.explanation).toContain("3 requests per minute for the key.");
});

test("a request at the account's limit is refused by it, however much the key has left", async () => {
  const { till, script, call } = await newShop();
  for (let request = 0; request < 10; request++) await call("GET", "/pets", undefined, till);
  const refused = await call("GET", "/pets", undefined, script);
  expect([windowOf(refused), refused.json.message]).toEqual([[10, 0], expect.stringContaining("the current window")]);
});

test("PATCH raises, lowers and removes the limit at once, each with an event", async () => {
  const { script, id, shown, call, patch } = await newShop();
  const list = async () => (await call("GET", "/pets", undefined, script)).status;
  for (let request = 0; request < 3; request++) expect(await list()).toBe(200);
  expect(await list()).toBe(429);
  expect((await patch(id, 4)).json).toMatchObject({ id, limitPerMinute: 4, hint: shown.hint });
  expect([await list(), await list()]).toEqual([200, 429]);
  await patch(id, 4); // changes nothing
  const { json, status } = await patch(id, null);
  expect([status, json.limitPerMinute, await list()]).toEqual([200, undefined, 200]);
  expect((await call("PATCH", `/keys/${id}`, {})).json).toEqual(json);
  const events = (await call("GET", "/events?type=key.updated")).json;
  expect(events.map(({ data, previous }: never) => [data["limitPerMinute"], previous])).toEqual([
    [4, { limitPerMinute: 3 }],
    [undefined, { limitPerMinute: 4 }],
  ]);
});

test("the limit continues after a restart, with the requests counted until then", async () => {
  const { script, call } = await newShop();
  const list = () => call("GET", "/pets", undefined, script);
  await list();
  service = await service.restart();
  expect(windowOf(await list())).toEqual([3, onPostgres ? 2 : 1]);
});

test("a replacement has the limit of the old key", async () => {
  const { id, call } = await newShop();
  expect((await call("POST", `/keys/${id}/rotate`)).json.limitPerMinute).toBe(3);
});

test.each([0, -1, 1.5, "3", 11])("%j is refused, with the plan's 10 requests a minute", async (limit) => {
  const { id, create, patch } = await newShop();
  for (const { status, json } of [await create({ limitPerMinute: limit }), await patch(id, limit)]) {
    expect([status, json.details[0].path]).toEqual([400, "/body/limitPerMinute"]);
  }
  expect((await create({ limitPerMinute: 10 })).status).toBe(201);
});

describe("a key that has one", () => {
  test.each([4, null])("cannot have %j for itself or another key", async (limit) => {
    const { script, id, tillId, create, patch } = await newShop();
    const wanted = limit === null ? {} : { limitPerMinute: limit };
    service.clock.advance(60_000);
    const answers = [await patch(id, limit, script), await patch(tillId, limit, script), await create(wanted, script)];
    for (const { status, json } of answers) expect([status, json.code]).toEqual([403, "limit_exceeds_key"]);
  });

  test("cannot replace a key with a higher one, and can lower its own", async () => {
    const { script, id, tillId, call, create, patch } = await newShop();
    expect((await call("POST", `/keys/${tillId}/rotate`, undefined, script)).json.code).toBe("limit_exceeds_key");
    expect((await create({ limitPerMinute: 2 }, script)).json.limitPerMinute).toBe(2);
    expect((await patch(id, 2, script)).json.limitPerMinute).toBe(2);
  });
});

test("a key that has ended cannot be changed", async () => {
  const { id, call, patch } = await newShop();
  await call("DELETE", `/keys/${id}`);
  expect((await patch(id, 2)).json.code).toBe("key_ended");
  expect((await patch("key_of_nobody", 2)).json.code).toBe("key_not_found");
});
