// The stream of a shop's events, including earlier ones.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { integer, record, sample, subarray } from "fast-check";
import { Listener } from "../../../test/harness/listener.ts";
import { type TestResponse, TestService } from "../../../test/harness/service.ts";
import { INT64_MAX } from "../../contract/schemas.ts";

let service: TestService;
let key: string;
const listeners: Listener[] = [];
beforeAll(async () => {
  service = await TestService.start();
});
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.close();
});
afterAll(() => service.stop());

/** A key of a new shop. The log contains the events of the key itself, unless it is emptied. */
async function newShop(): Promise<string> {
  const { account, key: own } = await service.newAccountWithKey("enterprise");
  key = own;
  const shop = await service.shop(account.id);
  await service.store.run(
    `DELETE FROM events WHERE shop = ${shop}; UPDATE shops SET last_event_id = 0 WHERE shop = ${shop};`,
  );
  return key;
}
const call = (method: string, path: string, body?: unknown): Promise<TestResponse> =>
  service.call(method, path, { key, body });
const add = (many = 1) =>
  Promise.all(Array.from({ length: many }, () => call("POST", "/pets", { name: "Rex", categoryId: 1 })));
const list = async (query = ""): Promise<{ id: number; type: string }[]> =>
  (await call("GET", `/events?limit=100${query}`)).json;

async function follow(query = "", lastId?: number | string, by = key): Promise<Listener> {
  const headers: Record<string, string> = lastId === undefined ? {} : { "Last-Event-ID": String(lastId) };
  const listener = await Listener.open(`${service.app.base}/events/stream${query}`, by, headers);
  listeners.push(listener);
  return listener;
}
const got = (listener: Listener, many: number) => listener.until(({ events }) => events.length >= many);

describe("a stream of events", () => {
  // The test's clock does not advance, so the stream ends because of the change of keys, not the check every second.
  test("ends when its account is deleted, and the stream of another account continues", async () => {
    const { account, key: doomed } = await service.newAccountWithKey("enterprise");
    const ended = await follow("", undefined, doomed);
    await newShop();
    const other = await follow();
    await service.app.accounts.delete(account.id, service.clock.now());
    expect(await ended.ended).toBeUndefined();
    await add();
    expect((await got(other, 1)).events).toHaveLength(1);
  });

  test("sends events from now on, as they are in the log", async () => {
    await newShop();
    await add(3);
    const listener = await follow();
    expect((await listener.until(({ newestId }) => newestId !== "")).newestId).toBe("3");
    await add();
    await call("PATCH", "/pets/1", { status: "available" });
    await call("POST", "/store/orders", { petId: 1 });
    const { events } = await got(listener, 4);
    expect(events.map(({ data }) => JSON.parse(data))).toEqual(await list("&after=3"));
    expect(events.map(({ event }) => event)).toEqual(["pet.created", "pet.updated", "order.placed", "pet.updated"]);
  });

  test("ends when its sandbox is reset, and can be resumed in the new one", async () => {
    await newShop();
    await add(2);
    const listener = await follow();
    await listener.until(({ newestId }) => newestId !== "");
    expect((await call("POST", "/sandbox/reset", { animals: "none" })).status).toBe(200);
    expect(await listener.ended).toBeUndefined();
    const another = await follow();
    await add();
    const { events } = await got(another, 1);
    expect(events.map(({ event }) => event)).toEqual(["pet.created"]);
  });

  test("cannot be resumed after a reset, even if the new log has reached the id of the old one", async () => {
    await newShop();
    await add(2);
    const listener = await follow("?after=0");
    await got(listener, 2);
    await call("POST", "/sandbox/reset", { animals: "samples" });
    expect(await listener.ended).toBeUndefined();
    const { lastId, newestId } = listener.state;
    expect([lastId, newestId]).toEqual([String(INT64_MAX), String(INT64_MAX)]);
    for (const resumed of [await follow("", lastId), await follow(`?lastEventId=${lastId}`)])
      expect(resumed.response.status).toBe(410);
  });

  test.each([
    ["?after=2", undefined],
    ["", 2],
    ["?after=0", 2],
    ["?after=0&lastEventId=2", undefined],
  ])("resumes after an id: %s, Last-Event-ID %p", async (query, lastId) => {
    await newShop();
    await add(5);
    const listener = await follow(query, lastId);
    await got(listener, 3);
    await add();
    await got(listener, 4);
    expect(listener.ids).toEqual([3, 4, 5, 6]);
  });

  test("sends a whole long log, once, and then continues", async () => {
    await newShop();
    await add(950);
    const listener = await follow("?after=0");
    await got(listener, 500);
    await add(50);
    await got(listener, 1_000);
    expect(listener.ids).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1));
  });

  test("can be resumed behind 127 large events while another client follows the shop", async () => {
    await newShop();
    const current = await follow();
    const metadata = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`key${index}`, "x".repeat(500)]));
    for (let count = 0; count < 128; count++) {
      await call("POST", "/pets", { name: "Rex", categoryId: 1, metadata });
    }
    await got(current, 128);
    const resumed = await follow("", 1);
    await got(resumed, 127);
    expect(resumed.ids).toEqual(current.ids.slice(1));
  });

  test("sends the events since a time, including those from before it was opened", async () => {
    await newShop();
    await add(2);
    service.clock.advance(60_000);
    const since = new Date(service.clock.now()).toISOString();
    await add(2);
    const listener = await follow(`?since=${since}`);
    await add();
    await got(listener, 3);
    expect(listener.ids).toEqual([3, 4, 5]);
  });

  test("does not send events of another shop", async () => {
    const other = await newShop();
    const theirs = await follow("", undefined, other);
    await newShop();
    const ours = await follow();
    await add(2);
    await got(ours, 2);
    key = other;
    await call("POST", "/pets", { name: "Ida", categoryId: 1 });
    const { events } = await got(theirs, 1);
    expect(events.map(({ id, data }) => [id, JSON.parse(data).data.name])).toEqual([["1", "Ida"]]);
    expect(ours.ids).toEqual([1, 2]);
  });

  test.each([
    ["?after=-1", 200, ""],
    ["?after=7", 410, "6"],
    ["?after=6", 200, ""],
  ] as const)("from %s of a log with the events 1 to 6 returns %d", async (query, expected, named) => {
    await newShop();
    await add(6);
    if (expected === 200) return expect((await follow(query)).response.status).toBe(200);
    const { status, json } = await call("GET", `/events/stream${query}`);
    expect([status, json.code, json.message.includes(named)]).toEqual([expected, "events_expired", true]);
  });

  test("from a deleted event is refused, and the error names the first stored id", async () => {
    const { account, key: own } = await service.newAccountWithKey("enterprise");
    key = own;
    const shop = await service.shop(account.id);
    await service.store.run(
      `DELETE FROM events WHERE shop = ${shop}; UPDATE shops SET last_event_id = 0 WHERE shop = ${shop};`,
    );
    await add(6);
    await service.store.run(`DELETE FROM events WHERE shop = ${shop} AND id < 4`);
    const { status, json } = await call("GET", "/events/stream?after=2");
    expect([status, json.code, json.message.includes("the id 4")]).toEqual([410, "events_expired", true]);
    await got(await follow("?after=3"), 3);
  });
});

test("applies the same filters as the list, to old and new events", async () => {
  await newShop();
  const moments: string[] = [];
  const work = async () => {
    await add(3);
    moments.push(new Date(service.clock.now()).toISOString());
    service.clock.advance(1_000);
    for (const id of [1, 2]) await call("PATCH", `/pets/${id}`, { status: "available" });
    const { json } = await call("POST", "/store/orders", { petId: 1 });
    await call("POST", `/store/orders/${json.id}/cancel`);
    service.clock.advance(1_000);
    await call("DELETE", "/pets/3");
  };
  await work();
  await list(); // the first half exists before any client follows
  const followed = sample(
    record(
      {
        type: subarray(["pet.created", "pet.updated", "pet.deleted", "order.placed", "order.cancelled"], {
          minLength: 1,
        }),
        petId: integer({ min: 1, max: 4 }),
        orderId: integer({ min: 1, max: 2 }),
        since: integer({ min: -1, max: 3 }),
        until: integer({ min: 0, max: 4 }),
      },
      { requiredKeys: [] },
    ),
    { numRuns: 60 },
  );
  const start = Date.parse(moments[0] as string);
  const at = (second: number) => new Date(start + second * 1_000).toISOString();
  const queries = followed.map(({ since, until, ...filters }) => {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(filters)) query.set(name, String(value));
    if (since !== undefined) query.set("since", at(since));
    if (until !== undefined) query.set("until", at(Math.max(until, since ?? until)));
    return query.toString();
  });
  const streams = await Promise.all(queries.map((query) => follow(`?after=0&${query}`)));
  await work();
  const newest = (await list("&sort=-id"))[0]?.id;
  await add();
  for (const [index, stream] of streams.entries()) {
    const query = queries[index] as string;
    const wanted = (await list(`&${query}`)).map(({ id }) => id);
    await got(stream, wanted.length);
    expect([query, stream.ids.filter((id) => id <= (newest ?? 0))]).toEqual([
      query,
      wanted.filter((id) => id <= (newest ?? 0)),
    ]);
  }
});
