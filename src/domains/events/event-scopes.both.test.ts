// Events that only some keys may read: those of keys and webhook endpoints, whose type names a scope.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DistantStorage } from "../../../test/harness/distant-storage.ts";
import { Listener } from "../../../test/harness/listener.ts";
import { untilMetric } from "../../../test/harness/metrics.ts";
import { nextOf } from "../../../test/harness/next-page.ts";
import { eventually } from "../../../test/harness/program.ts";
import { TestService } from "../../../test/harness/service.ts";
import { secretKey } from "../../../test/harness/webhook-service.ts";
import { openStorage } from "../../app/store/engines.ts";
import type { Scope } from "../../contract/caller.ts";
import { SCAN_LIMIT } from "../../storage/pages.ts";
import { exampleKey } from "../keys/keys.schemas.ts";

/** How often a stream sends its position if there is no event to send, in milliseconds. */
const KEEP_ALIVE = 15_000;

interface Shown {
  readonly id: number;
  readonly type: string;
}

let service: TestService;
let admin: string;
let reader: string;
/** The log of the shop: events that need the scope `admin` and others, mixed. */
let log: readonly Shown[];

const keyWith = async (scopes: readonly Scope[]): Promise<string> =>
  (await call("POST", "/keys", { name: "key", scopes })).json.key;
const call = (method: string, path: string, body?: unknown, key = admin) => service.call(method, path, { key, body });
const isHidden = ({ type }: Shown) => /^(key|webhook_endpoint)\./.test(type);
const read = async (query: string, key: string): Promise<Shown[]> =>
  (await call("GET", `/events?limit=100${query}`, undefined, key)).json;
const idsOf = (events: readonly Shown[]) => events.map(({ id }) => id);
/** The ids on each page. */
async function walk(query: string, key: string): Promise<number[][]> {
  const pages: number[][] = [];
  for (let path: string | undefined = `/events?${query}`; path !== undefined; ) {
    const { json, headers } = await call("GET", path, undefined, key);
    pages.push(idsOf(json));
    path = nextOf({ headers });
  }
  return pages;
}

beforeAll(async () => {
  service = await TestService.start({ settings: { PETSTORE_SECRET_KEY: secretKey } });
  admin = (await service.newAccountWithKey("enterprise", undefined, ["read", "write", "admin"])).key;
  reader = await keyWith(["read"]);
  const { id } = (await call("POST", "/webhook-endpoints", { url: "https://example.org/hook" })).json;
  await call("POST", "/pets", { name: "Rex", categoryId: 1, status: "available" });
  await call("PATCH", `/webhook-endpoints/${id}`, { description: "Till" });
  await call("POST", "/store/orders", { petId: 1 });
  await call("DELETE", `/webhook-endpoints/${id}`);
  await keyWith(["write"]);
  await keyWith(["write"]);
  await call("POST", "/pets", { name: "Ida", categoryId: 1 });
  log = await read("", admin);
});
afterAll(() => service.stop());

describe("a key without the scope", () => {
  test("does not see such events in lists, in either order and filtered, while one with it sees all", async () => {
    const visible = log.filter((event) => !isHidden(event));
    expect(idsOf(log)).toEqual(log.map((_, index) => index + 1));
    expect(visible.length).toBeGreaterThan(3);
    expect(log.length - visible.length).toBeGreaterThan(6);
    expect(await read("", reader)).toEqual(visible);
    expect(await read("&sort=-id", reader)).toEqual(visible.toReversed());
    for (const filter of ["&petId=1", "&orderId=1", "&type=pet.created", `&after=${log.length - 1}`]) {
      const seen = (await read(filter, admin)).filter((event) => !isHidden(event));
      expect([filter, await read(filter, reader)]).toEqual([filter, seen]);
    }
    expect(await read("&type=key.created,webhook_endpoint.created", reader)).toEqual([]);
    expect(await read("&type=key.created,pet.created", reader)).toEqual(await read("&type=pet.created", reader));
  });

  test.each(["", "sort=-id&"])("gets full pages of what it may see (%p)", async (sort) => {
    const visible = idsOf(log.filter((event) => !isHidden(event)));
    const expected = (sort ? visible.toReversed() : visible).map((id) => [id]);
    const pages = await walk(`${sort}limit=1`, reader);
    expect(pages.filter((page) => page.length > 0)).toEqual(expected);
    expect(pages.length - expected.length).toBeLessThanOrEqual(1);
  });

  test("gets its own page if a key with the scope asks for the same at the same moment", async () => {
    const storages: DistantStorage[] = [];
    const openStore = async (...args: Parameters<typeof openStorage>) => {
      const storage = new DistantStorage(await openStorage(...args));
      storages.push(storage);
      return storage;
    };
    const distant = await TestService.start({ openStore });
    const { account, key } = await distant.newAccountWithKey("pro", undefined, ["read", "admin"]);
    const other = await distant.app.keys.issueKey(account.id, "reader", ["read"], distant.clock.now());
    const found = Promise.withResolvers<void>();
    for (const storage of storages) storage.readsAfter = found.promise;
    const pages = [key, other.key].map((by) => distant.call("GET", "/events", { key: by }));
    await untilMetric(distant.app.base, "petstore_requests_pending", 2); // both wait until their keys are found
    found.resolve();
    expect((await Promise.all(pages)).map(({ json }) => json.length)).toEqual([2, 0]);
    await distant.stop();
  });

  test("gets 403 for one such event", async () => {
    for (const { id, type } of log) {
      const { status, json, headers } = await call("GET", `/events/${id}`, undefined, reader);
      if (!isHidden({ id, type })) expect([status, json.id]).toEqual([200, id]);
      else {
        expect([status, json.code, json.message]).toEqual([
          403,
          "insufficient_scope",
          "The API key lacks the scope admin.",
        ]);
        const challenge = 'Bearer realm="petstore", error="insufficient_scope", scope="read admin"';
        expect(headers.get("www-authenticate")).toBe(challenge);
      }
      expect((await call("GET", `/events/${id}`)).json).toEqual({ ...log[id - 1] });
    }
  });

  test("does not see them on a stream, and resumes after any id", async () => {
    const visible = log.filter((event) => !isHidden(event));
    for (const from of [0, 1, log.length - 2, log.length]) {
      const listener = await Listener.open(`${service.app.base}/events/stream`, reader, { "Last-Event-ID": `${from}` });
      const { newestId, events } = await listener.until((state) => state.newestId === `${log.length}`);
      listener.close();
      const expected = idsOf(visible.filter(({ id }) => id > from));
      expect([from, events.map(({ data }) => JSON.parse(data).id), newestId]).toEqual([
        from,
        expected,
        `${log.length}`,
      ]);
    }
  });

  test("does not see new ones on a stream, whose id goes on", async () => {
    const other = await service.newAccountWithKey("enterprise", undefined, ["read", "write", "admin"]);
    const own = (await call("POST", "/keys", { name: "reader", scopes: ["read"] }, other.key)).json.key;
    const follow = (key: string) => Listener.open(`${service.app.base}/events/stream?after=0`, key);
    const [few, all] = [await follow(own), await follow(other.key)];
    await call("POST", "/keys", { name: "another", scopes: ["read"] }, other.key);
    await call("POST", "/pets", { name: "Rex", categoryId: 1 }, other.key);
    await call("POST", "/keys", { name: "last", scopes: ["read"] }, other.key);
    await all.until(({ lastId }) => lastId === "5");
    await eventually(() => {
      service.clock.advance(KEEP_ALIVE);
      return few.state.newestId === "5";
    });
    const [seen, whole] = [few, all].map(({ state }) => state.events.map(({ event }) => event));
    expect(whole).toEqual(["key.created", "key.created", "key.created", "pet.created", "key.created"]);
    expect(seen).toEqual(["pet.created"]);
    few.close();
    all.close();
  });
});

test("a page of hidden events alone is empty, and the next one follows", async () => {
  const other = await service.newAccountWithKey("enterprise", undefined, ["read", "write", "admin"]);
  const shop = await service.shop(other.account.id);
  const many = SCAN_LIMIT + 5;
  const ofKey = JSON.stringify({ ...exampleKey, scopes: ["read"] });
  await service.store.run(`
    INSERT INTO events (shop, id, at, type, under, subject, actor, request_id, data, previous)
      WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${many})
      SELECT ${shop}, n, 1795262400000, 'key.created', NULL, 'key_1', 'operator', NULL, '${ofKey}', NULL FROM numbers;
    UPDATE shops SET last_event_id = ${many} WHERE shop = ${shop};`);
  await call("POST", "/pets", { name: "Rex", categoryId: 1 }, other.key);
  const few = (await call("POST", "/keys", { name: "reader", scopes: ["read"] }, other.key)).json.key;
  expect(await walk("limit=100", few)).toEqual([[], [many + 1]]);
  expect(await walk("limit=100&sort=-id", few)).toEqual([[many + 1], []]);
});
