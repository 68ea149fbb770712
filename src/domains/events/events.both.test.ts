// The event log of a shop: the events that changes add, and the operations that read them.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { ManualTasks } from "../../../test/harness/manual-tasks.ts";
import { nextOf } from "../../../test/harness/next-page.ts";
import { numbers } from "../../../test/harness/numbers.ts";
import { type TestResponse, TestService } from "../../../test/harness/service.ts";
import { domains } from "../../app/domains.ts";
import { scopes } from "../../contract/caller.ts";

const RESERVATION = 15;
/** An animal in SQL. */
const rexInSql = `'{"id":1,"name":"Rex","categoryId":1}'`;

let service: TestService;
let tasks: ManualTasks;
let key: string;
beforeEach(async () => {
  tasks = new ManualTasks();
  const settings = { PETSTORE_RESERVATION_MINUTES: String(RESERVATION) };
  service = await TestService.start({ domains: tasks.domains, settings });
  key = await service.newKey("enterprise", undefined, scopes);
  await service.store.run("DELETE FROM events; UPDATE shops SET last_event_id = 0"); // removes the event of the key
});
afterEach(() => service.stop());

interface Shown {
  readonly id: number;
  readonly type: string;
  readonly at: string;
  readonly actor: { readonly kind: string; readonly keyId?: string; readonly requestId?: string };
  readonly subject: { readonly type: string; readonly id: string };
  readonly data?: Record<string, unknown>;
  readonly previous?: Record<string, unknown>;
}

const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestResponse> =>
  service.call(method, path, { key, body, ...(headers && { headers }) });
const add = (status?: string, categoryId = 1) => call("POST", "/pets", { name: "Rex", categoryId, status });
const list = async (query = ""): Promise<Shown[]> => {
  const { status, json } = await call("GET", `/events${query}`);
  expect(status).toBe(200);
  return json as Shown[];
};
const ids = async (query: string) => (await list(query)).map(({ id }) => id);
/** The ids on each page. */
const walk = async (query: string) => {
  const pages: number[][] = [];
  for (let path: string | undefined = `/events?${query}`; path !== undefined; ) {
    const { json, headers } = await call("GET", path);
    pages.push((json as Shown[]).map(({ id }) => id));
    path = nextOf({ headers });
  }
  return pages;
};
const types = async (query = "?limit=100") => (await list(query)).map(({ type }) => type);

describe("a change adds events", () => {
  test("for an animal that is added, changed and deleted, with its previous fields and the author", async () => {
    const replies = [
      await add("available"),
      await call("PATCH", "/pets/1", { name: "Ida", status: "sold" }),
      await call("DELETE", "/pets/1"),
    ];
    const { id: keyId } = (await service.app.keys.list()).at(-1) ?? {};
    const rex = { id: 1, name: "Rex", categoryId: 1, status: "available" };
    const ida = { ...rex, name: "Ida", status: "sold" };
    const [created, updated, deleted, ...others] = await list();
    expect(others).toEqual([]);
    const subject = { type: "pet", id: "1" };
    const at = new Date(service.clock.now()).toISOString();
    const actor = (reply: TestResponse | undefined) => ({
      kind: "key",
      keyId,
      requestId: reply?.headers.get("x-request-id"),
    });
    expect(created).toEqual({ id: 1, type: "pet.created", at, actor: actor(replies[0]) as never, subject, data: rex });
    expect(updated).toEqual({
      id: 2,
      type: "pet.updated",
      at,
      actor: actor(replies[1]) as never,
      subject,
      data: ida,
      previous: { name: "Rex", status: "available" },
    });
    expect(deleted).toEqual({
      id: 3,
      type: "pet.deleted",
      at,
      actor: actor(replies[2]) as never,
      subject,
      previous: ida,
    });
    expect((await call("GET", "/events/2")).json).toEqual(updated);
  });

  test("with every digit of an int64 and every character of a name", async () => {
    const body = '{"name":"Zoë \\"\\\\ 🐕 \\u2027\\u00a0","categoryId":9223372036854775807}';
    const added = await call("POST", "/pets", body);
    await call("PATCH", "/pets/1", '{"categoryId":-9223372036854775808}');
    const { text, json } = await call("GET", "/events");
    expect(text).toContain(`"data":${added.text}`);
    expect(json[0].data.name).toBe('Zoë "\\ 🐕 \u2027\u00a0');
    expect(text).toContain('"categoryId":-9223372036854775808}');
    expect(text).toContain('"previous":{"categoryId":9223372036854775807}');
  });

  test("with null for a field that was absent before", async () => {
    await add();
    await call("PATCH", "/pets/1", { status: "available" });
    expect((await list()).at(-1)?.previous).toEqual({ status: null });
  });

  test("only if something has changed", async () => {
    await add("available");
    await call("PATCH", "/pets/1", { name: "Rex" });
    await call("PATCH", "/pets/9", { name: "Rex" });
    await call("PATCH", "/pets/1", { name: "Ida" }, { "If-Match": '"other"' });
    await call("POST", "/pets", { name: "" });
    await call("POST", "/store/orders", { petId: 9 });
    expect(await types()).toEqual(["pet.created"]);
  });

  test("once, even if the request is retried", async () => {
    const headers = { "Idempotency-Key": "once" };
    await call("POST", "/pets", { name: "Rex", categoryId: 1 }, headers);
    await call("POST", "/pets", { name: "Rex", categoryId: 1 }, headers);
    expect(await types()).toEqual(["pet.created"]);
  });

  test("for an order and then its animal, next to each other", async () => {
    await add("available");
    for (const path of ["", "/1/confirm", "/1/return", "", "/2/cancel"])
      await call("POST", `/store/orders${path}`, path ? undefined : { petId: 1 });
    expect(await types()).toEqual([
      "pet.created",
      ...["placed", "confirmed", "returned", "placed", "cancelled"].flatMap((what) => [`order.${what}`, "pet.updated"]),
    ]);
    const [, placed, reserved, confirmed] = await list();
    expect(placed?.subject).toEqual({ type: "order", id: "1" });
    expect([reserved?.previous, reserved?.data?.["status"]]).toEqual([{ status: "available" }, "pending"]);
    expect(confirmed?.data).toMatchObject({ ...placed?.data, status: "confirmed", confirmedAt: confirmed?.at });
    expect(confirmed?.previous).toEqual({
      status: "placed",
      confirmedAt: null,
      confirmedBy: null,
      petName: null,
      categoryId: null,
      seller: null,
    });
    expect(placed?.actor).toEqual(reserved?.actor as never);
  });

  test("for a reservation that expires, with the service as its author", async () => {
    await add("available");
    await add("available");
    for (const petId of [1, 2]) await call("POST", "/store/orders", { petId });
    service.clock.advance(RESERVATION * 60_000);
    await call("POST", "/store/orders", { petId: 1 });
    const after = await list("?after=6");
    expect(after.map(({ type, actor }) => [type, actor.kind])).toEqual([
      ["order.expired", "system"],
      ["pet.updated", "system"],
      ["order.placed", "key"],
      ["pet.updated", "key"],
    ]);
    expect(after[0]?.actor).toEqual({ kind: "system" });
    await tasks.run();
    expect((await list("?after=10")).map(({ type, subject }) => [type, subject.id])).toEqual([
      ["order.expired", "2"],
      ["pet.updated", "2"],
    ]);
  });
});

describe("a change of other resources adds events", () => {
  test("for a category that is added, renamed and deleted, and one for its animals together", async () => {
    await call("POST", "/categories", { id: 5, name: "Dogs" });
    await call("POST", "/categories", { id: 6, name: "Cats" });
    await call("PATCH", "/categories/5", { name: "Dogs" });
    await call("PATCH", "/categories/5", { name: "Hounds" });
    await add(undefined, 5);
    await add(undefined, 5);
    await call("DELETE", "/categories/5?moveTo=6");
    const [created, , renamed, , , reassigned, deleted, ...others] = await list();
    expect(others).toEqual([]);
    expect(created).toMatchObject({
      type: "category.created",
      subject: { type: "category", id: "5" },
      data: { id: 5, name: "Dogs" },
    });
    expect(renamed).toMatchObject({
      type: "category.updated",
      data: { id: 5, name: "Hounds" },
      previous: { name: "Dogs" },
    });
    expect(reassigned).toMatchObject({
      type: "pets.reassigned",
      data: { from: 5, to: 6, animals: 2, firstPetId: 1, lastPetId: 2 },
    });
    expect(deleted).toMatchObject({ type: "category.deleted", previous: { id: 5, name: "Hounds" } });
    expect(deleted?.data).toBeUndefined();
  });

  test("for keys, without their text and their uses", async () => {
    const issued = (await call("POST", "/keys", { name: "till", scopes: ["read"] })).json;
    const rotated = (await call("POST", `/keys/${issued.id}/rotate?overlap=60`)).json;
    await call("DELETE", `/keys/${rotated.id}`);
    await call("DELETE", `/keys/${rotated.id}`);
    const events = await list();
    expect(events.map(({ type, subject: { id } }) => [type, id])).toEqual([
      ["key.created", issued.id],
      ["key.rotated", issued.id],
      ["key.created", rotated.id],
      ["key.revoked", rotated.id],
    ]);
    const { key: secret, ...shown } = issued;
    expect(events[0]?.data).toEqual(shown);
    expect(events[1]?.previous).toEqual({ expiresAt: null });
    expect(Object.keys(events[3]?.previous ?? {})).toEqual(["revokedAt"]);
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  test("for a ban, once, with the service as its author", async () => {
    const banned = await service.app.keys.issueKey((await service.app.accounts.list())[0]?.id ?? "", "x", ["read"], 0);
    const end = service.clock.now() + 60_000;
    for (let process = 0; process < 2; process++) {
      await service.app.keys.banKey(banned.record.id, service.clock.now() + process);
    }
    const [, event, ...others] = await list();
    expect(others).toEqual([]);
    expect(event).toMatchObject({ type: "key.banned", actor: { kind: "system" }, subject: { id: banned.record.id } });
    expect(event?.data?.["ban"]).toMatchObject({ endsAt: new Date(end).toISOString() });
  });
});

describe("old events", () => {
  const DAY = 86_400_000;

  /** Adds animals, some of them a day later than the others. */
  const addOverTime = async (first: number, later: number) => {
    const shop = await service.shop();
    const start = service.clock.now();
    await service.store.run(`
      INSERT INTO events (shop, id, at, type, under, actor, previous)
      ${numbers(first + later)}
      SELECT ${shop}, n, ${start} + CASE WHEN n > ${first} THEN ${DAY} ELSE 0 END, 'pet.deleted', n, 'system', ${rexInSql}
      FROM numbers;
      UPDATE shops SET last_event_id = ${first + later} WHERE shop = ${shop};
    `);
  };

  test("are deleted when they are older than 30 days; the error names the first stored one", async () => {
    await addOverTime(12_345, 3);
    await tasks.run();
    expect(await ids("?limit=1")).toEqual([1]);
    service.clock.advance(30 * DAY + 1);
    await tasks.run();
    await tasks.run();
    expect(await ids("")).toEqual([12_346, 12_347, 12_348]);
    expect(await ids("?sort=-id&limit=2")).toEqual([12_348, 12_347]);
    expect(await ids("?after=12345&limit=1")).toEqual([12_346]);
    expect(await ids("?after=12345&sort=-id&limit=2")).toEqual([12_348, 12_347]);
    const older = ["/events?after=12344", "/events?after=0", "/events?after=12344&sort=-id"];
    for (const path of [...older, "/events/12345", "/events/1"]) {
      const { status, json } = await call("GET", path);
      expect([path, status, json.code]).toEqual([path, 410, "events_expired"]);
      expect(json.message).toEndWith(" 12346.");
    }
    for (const id of [12_349, 0, -1]) expect([id, (await call("GET", `/events/${id}`)).status]).toEqual([id, 404]);
  });

  test("leave the newest, so that a client of a shop without changes can continue after it", async () => {
    await addOverTime(501, 0);
    service.clock.advance(30 * DAY + 1);
    for (let round = 0; round < 2; round++) {
      await tasks.run();
      expect(await ids("")).toEqual([501]);
      service.clock.advance(DAY); // the next scan of the shops
    }
    expect((await call("GET", "/events?after=0")).json.message).toEndWith(" 501.");
    const [newest] = await ids("?sort=-id&limit=1");
    await add();
    expect(await ids(`?after=${newest}`)).toEqual([502]);
    await tasks.run();
    expect(await ids("")).toEqual([502]);
  });
});

describe("events can be found", () => {
  test("by the animal and its orders, by the order, by type, and by several of them", async () => {
    for (let id = 1; id <= 3; id++) await add("available");
    await call("POST", "/store/orders", { petId: 2 });
    await call("POST", "/store/orders", { petId: 3 });
    await call("PATCH", "/pets/1", { name: "Ida" });
    expect(await ids("?petId=2")).toEqual([2, 4, 5]);
    expect(await ids("?petId=2&sort=-id")).toEqual([5, 4, 2]);
    expect(await ids("?orderId=2")).toEqual([6]);
    expect(await ids("?orderId=2&petId=3")).toEqual([6]);
    expect(await ids("?orderId=2&petId=2")).toEqual([]);
    expect(await ids("?orderId=9")).toEqual([]);
    expect(await ids("?petId=9")).toEqual([]);
    expect(await ids("?type=pet.updated")).toEqual([5, 7, 8]);
    expect(await ids("?type=pet.updated,order.placed&after=5")).toEqual([6, 7, 8]);
    expect(await ids("?type=pet.updated&petId=3")).toEqual([7]);
    expect(await ids("?type=pet.deleted")).toEqual([]);
    const { json } = await call("GET", "/events?type=pet.update");
    expect(json.details).toEqual([{ path: "/query/type/0", message: expect.stringContaining("pet.updated") }]);
  });

  test("by a list of all types but one", async () => {
    const known = domains.flatMap(({ eventTypes = [] }) => eventTypes.map(({ type }) => type));
    await add();
    await call("DELETE", "/pets/1");
    expect(await ids(`?type=${known.filter((type) => type !== "pet.deleted").join()}`)).toEqual([1]);
    expect(await ids(`?type=${known.join()}`)).toEqual([1, 2]);
  });

  test("page by page, in both orders, from where the client was", async () => {
    for (let id = 1; id <= 7; id++) await add();
    expect(await walk("limit=3")).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
    expect(await walk("limit=3&sort=-id")).toEqual([[7, 6, 5], [4, 3, 2], [1]]);
    expect(await walk("limit=3&after=2")).toEqual([
      [3, 4, 5],
      [6, 7],
    ]);
    expect(await walk("limit=3&after=5&sort=-id")).toEqual([[7, 6]]);
    expect(await walk("limit=3&after=7")).toEqual([[]]);
    expect(await walk("limit=3&after=-9223372036854775808")).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
    for (const query of ["after=8", "after=9223372036854775807", "after=8&sort=-id"]) {
      const { status, json } = await call("GET", `/events?${query}`);
      expect([status, json.message]).toEqual([410, expect.stringContaining("The newest event has the id 7.")]);
    }
  });

  test("by time, to the millisecond, with every pair of times", async () => {
    const start = service.clock.now();
    const offsets = [0, 0, 5, 5, 5, 9, 20];
    for (const offset of offsets) {
      service.clock.advance(start + offset - service.clock.now());
      await add();
    }
    const time = (offset: number) => encodeURIComponent(new Date(start + offset).toISOString());
    for (const since of [-1, 0, 1, 5, 6, 9, 20, 21]) {
      for (const until of [-1, 0, 1, 5, 6, 9, 20, 21].filter((end) => end >= since)) {
        const wanted = offsets.flatMap((offset, index) => (offset >= since && offset < until ? [index + 1] : []));
        expect([since, until, await ids(`?since=${time(since)}&until=${time(until)}`)]).toEqual([since, until, wanted]);
      }
    }
    expect(await ids(`?since=${time(5)}`)).toEqual([3, 4, 5, 6, 7]);
    expect(await ids(`?until=${time(6)}&after=2&sort=-id`)).toEqual([5, 4, 3]);
    expect((await call("GET", "/events?since=yesterday")).status).toBe(400);
    expect((await call("GET", `/events?since=${time(1)}&until=${time(0)}`)).status).toBe(400);
  });

  test("only if there are any", async () => {
    expect(await list()).toEqual([]);
    expect(await ids("?since=2020-01-01T00:00:00Z&sort=-id")).toEqual([]);
    const { status, json } = await call("GET", "/events/1");
    expect([status, json.code]).toEqual([404, "event_not_found"]);
  });

  test("among many others, on pages that each search a part of the log", async () => {
    await add();
    const shop = await service.shop();
    const [last, animal] = [29_000, 2];
    await service.store.run(`
      INSERT INTO events (shop, id, at, type, under, actor, data, previous)
      ${numbers(last, 2)}
      SELECT ${shop}, n, ${service.clock.now()}, 'pet.updated', ${animal}, 'system', ${rexInSql}, '{}' FROM numbers;
      UPDATE events SET type = 'pet.deleted', data = NULL, previous = ${rexInSql} WHERE shop = ${shop} AND id = ${last};
      UPDATE shops SET last_event_id = ${last} WHERE shop = ${shop};
    `);
    for (const filter of ["", `&petId=${animal}`]) {
      const found = await walk(`type=pet.deleted${filter}`);
      expect([filter, found]).toEqual([filter, [[], [], [last]]]);
    }
    expect(await ids(`?type=pet.created&petId=1&sort=-id`)).toEqual([1]);
    const pages = await Promise.all(["", "&sort=-id"].map((sort) => call("GET", `/events?type=pet.created${sort}`)));
    expect(pages.map(({ json }) => json.length)).toEqual([1, 0]);
    expect(pages.every(({ headers }) => headers.has("link"))).toBe(true);
  });
});
