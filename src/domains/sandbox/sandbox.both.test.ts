import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { untilWaiting } from "../../../test/harness/metrics.ts";
import { nextOf } from "../../../test/harness/next-page.ts";
import { eventually } from "../../../test/harness/program.ts";
import { TestService } from "../../../test/harness/service.ts";
import { onPostgres } from "../../../test/harness/test-store.ts";
import { unlimitedQuota } from "../../../test/harness/unlimited.ts";
import { openStorage } from "../../app/store/engines.ts";
import { DAY_MS, MINUTE_MS } from "../../timing/clock.ts";

const ALL = ["read", "write"] as const;

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

/** The key of a new sandbox. */
async function newSandbox(quota = unlimitedQuota) {
  const { key, account } = await service.newAccountWithKey("enterprise", quota, ALL);
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    service.call(method, path, { key, headers, ...(body === undefined ? {} : { body }) });
  return {
    key,
    account,
    call,
    forward: (seconds: number) => call("POST", "/sandbox/fast-forward", { seconds }),
    /** What waits in a sandbox, of one kind. */
    waiting: async (kind: string) => waitingIn((await call("GET", "/sandbox")).json, kind),
    reset: (animals = "none", headers = {}) => call("POST", "/sandbox/reset", { animals }, headers),
    /** Adds this many available animals. */
    add: async (count: number) => {
      for (let id = 1; id <= count; id++)
        await call("POST", "/pets", { name: "Rex", categoryId: 1, status: "available" });
    },
    order: (petId: number) => call("POST", "/store/orders", { petId }),
  };
}

const time = (milliseconds: number) => new Date(milliseconds).toISOString();

function waitingIn({ waiting }: { readonly waiting: { kind: string; count: number; next: string }[] }, kind: string) {
  const found = waiting.find((one) => one.kind === kind);
  return found && [found.count, found.next];
}

describe("fast-forward", () => {
  test("ends a reservation: the animal is available at the next request", async () => {
    const { add, order, forward, call } = await newSandbox();
    const now = service.clock.now();
    await add(2);
    expect((await order(1)).json.expiresAt).toBe(time(now + 15 * MINUTE_MS));
    const almost = await forward(899);
    const { waiting: _, ...contents } = almost.json;
    expect((await call("GET", "/sandbox")).json).toMatchObject(contents);
    expect(waitingIn(almost.json, "reservation")).toEqual([1, time(now + 1_000)]);
    expect((await call("GET", "/pets/1")).json.status).toBe("pending");
    expect((await call("GET", "/store/orders/1")).json.expiresAt).toBe(time(now + 15 * MINUTE_MS));
    const done = (await forward(1)).json;
    expect([done.animals, done.orders, waitingIn(done, "reservation")]).toEqual([2, 1, undefined]);
    expect((await call("GET", "/pets/1")).json.status).toBe("available");
    const ended = (await call("GET", "/store/orders/1")).json;
    expect([ended.status, ended.expiresAt]).toEqual(["expired", time(now)]); // the real end
    const [event] = (await call("GET", "/events?type=order.expired")).json;
    expect([event.at, event.data, event.previous]).toEqual([
      time(now),
      ended,
      { status: "placed", expiresAt: time(now + 15 * MINUTE_MS) },
    ]);
    const later = (await order(2)).json;
    expect([later.placedAt, later.expiresAt]).toEqual([time(now), time(now + 15 * MINUTE_MS)]);
  });

  test("moves the other reservations: they end in the background, so much earlier", async () => {
    const { add, order, forward, call } = await newSandbox();
    await add(1);
    await order(1);
    await forward(600);
    service.clock.advance(300_000);
    await eventually(async () => (await call("GET", "/store/orders/1")).json.status !== "placed");
    expect((await call("GET", "/pets/1")).json.status).toBe("available");
  });

  test("changes neither limits nor bans", async () => {
    const { call, forward } = await newSandbox({ perMinute: 2, perDay: 3 });
    const list = () => call("GET", "/pets");
    const code = async () => (await list()).json.code;
    expect([await code(), await code(), await code()]).toEqual([undefined, undefined, "rate_limit_exceeded"]);
    service.clock.advance(1_000);
    for (let strike = 0; strike < 20; strike++) await code();
    await forward(366 * 86_400);
    const { json, headers } = await list();
    expect([json.code, headers.get("retry-after")]).toEqual(["key_banned", "60"]);
    service.clock.advance(60_000);
    expect([await code(), await code()]).toEqual([undefined, "rate_limit_exceeded"]); // the day's last
  });

  test("expires a stored response to an Idempotency-Key after 24 hours", async () => {
    const { call, forward } = await newSandbox();
    const create = async () => {
      const { json, headers } = await call(
        "POST",
        "/pets",
        { name: "Rex", categoryId: 1 },
        { "Idempotency-Key": "the-same" },
      );
      return [json.id, headers.get("idempotent-replayed")];
    };
    expect(await create()).toEqual([1, null]);
    await forward(86_399);
    expect(await create()).toEqual([1, "true"]);
    await forward(1);
    expect(await create()).toEqual([2, null]);
  });

  test.each([60, 30 * 86_400])("by %d seconds is done once if the request is retried", async (seconds) => {
    const { add, order, call, waiting } = await newSandbox();
    await add(1);
    await order(1);
    const send = () => call("POST", "/sandbox/fast-forward", { seconds }, { "Idempotency-Key": "one-step" });
    const replies = [await send(), await send()];
    expect(replies.map(({ status, headers }) => [status, headers.get("idempotent-replayed")])).toEqual([
      [200, null],
      [200, "true"],
    ]);
    expect(replies[1]?.json).toEqual(replies[0]?.json);
    const left = time(service.clock.now() + 14 * MINUTE_MS);
    expect(await waiting("reservation")).toEqual(seconds === 60 ? [1, left] : undefined);
  });

  test.each([0, -1, 1.5, 31_622_401, "60"])("refuses %j seconds", async (seconds) => {
    const { call } = await newSandbox();
    const { status, json } = await call("POST", "/sandbox/fast-forward", { seconds });
    expect([status, json.details[0].path]).toEqual([400, "/body/seconds"]);
  });

  test("affects neither another sandbox nor its limits", async () => {
    const [one, other] = [
      await newSandbox({ perMinute: 2, perDay: 100 }),
      await newSandbox({ perMinute: 6, perDay: 100 }),
    ];
    await other.add(1);
    await other.order(1);
    await one.forward(86_400);
    expect(await other.waiting("reservation")).toEqual([1, time(service.clock.now() + 15 * MINUTE_MS)]);
    expect((await other.call("GET", "/pets/1")).json.status).toBe("pending");
    for (let count = 0; count < 2; count++) expect((await other.call("GET", "/pets")).status).toBe(200);
    expect((await other.call("GET", "/pets")).status).toBe(429);
  });
});

test("a sandbox shows what it contains, and what waits until when", async () => {
  const { call, add, order, forward, waiting } = await newSandbox();
  const contents = async () => {
    const { animals, categories, orders } = (await call("GET", "/sandbox")).json;
    return { animals, categories, orders };
  };
  const now = service.clock.now();
  expect(await contents()).toEqual({ animals: 0, categories: 0, orders: 0 });
  await add(3);
  await call("POST", "/categories", { name: "Dogs" }, { "Idempotency-Key": "dogs" });
  await order(1);
  await forward(60);
  await order(2);
  await call("DELETE", "/pets/3");
  expect(await contents()).toEqual({ animals: 2, categories: 1, orders: 2 });
  expect(await waiting("reservation")).toEqual([2, time(now + 14 * MINUTE_MS)]);
  expect(await waiting("stored_response")).toEqual([1, time(now + DAY_MS - MINUTE_MS)]);
  await forward(DAY_MS / 1_000);
  expect([await waiting("reservation"), await waiting("stored_response")]).toEqual([undefined, undefined]);
});

describe("a reset", () => {
  test("empties the sandbox: ids start at 1, old cursors are refused; key and limits stay", async () => {
    const { call, add, order, forward, reset } = await newSandbox();
    await call("POST", "/categories", { name: "Dogs" });
    await add(3);
    await order(1);
    await forward(60);
    const cursor = nextOf(await call("GET", "/pets?limit=1")) as string;
    expect((await call("GET", cursor)).status).toBe(200);
    const used = async () => (await call("GET", "/key")).json.limits.day.used;
    const before = await used();

    const { status, json } = await reset();
    expect(await used()).toBe(before);
    expect([status, json]).toEqual([200, (await call("GET", "/sandbox")).json]);
    expect(json).toMatchObject({ animals: 0, categories: 0, orders: 0 });
    expect(waitingIn(json, "reservation")).toBeUndefined();
    const old = await call("GET", cursor);
    expect([old.status, old.json.details[0].path]).toEqual([400, "/query/cursor"]);
    for (const path of ["/pets/1", "/categories/1", "/store/orders/1"])
      expect((await call("GET", path)).status).toBe(404);
    for (const path of ["/pets", "/categories", "/store/orders"]) expect((await call("GET", path)).json).toEqual([]);

    expect((await call("POST", "/categories", { name: "Dogs" })).json.id).toBe(1);
    await add(1);
    expect((await call("GET", "/pets")).json).toEqual([{ id: 1, name: "Rex", categoryId: 1, status: "available" }]);
    const { id, placedAt } = (await order(1)).json;
    expect([id, placedAt]).toEqual([1, time(service.clock.now())]);
  });

  test("keeps how many animals the sandbox may hold", async () => {
    const { account, call, add, reset } = await newSandbox();
    await service.store.run(`UPDATE shops SET animals_allowed = 1 WHERE shop = ${await service.shop(account.id)}`);
    await reset();
    await add(1);
    expect((await call("POST", "/pets", { name: "Rex", categoryId: 1 })).json.code).toBe("shop_full");
  });

  test("is answered when all processes know the new shop", async () => {
    const asked = Promise.withResolvers<string>();
    const known = Promise.withResolvers<void>();
    const changesPropagated = () => {
      asked.resolve("asked");
      return known.promise;
    };
    const waiting = await TestService.start({
      openStore: async (...args) => Object.assign(await openStorage(...args), { changesPropagated }),
    });
    const { key } = await waiting.newAccountWithKey("pro");
    const isReset = waiting.call("POST", "/sandbox/reset", { key, body: { animals: "none" } });
    expect(await Promise.race([asked.promise, isReset.then(() => "answered")])).toBe("asked");
    known.resolve();
    expect((await isReset).status).toBe(200);
    await waiting.stop();
  });

  test("adds the animals of a first start on request", async () => {
    const { call, add, reset } = await newSandbox();
    await add(1);
    await reset("samples");
    const animals = (await call("GET", "/pets?limit=100")).json as { id: number; name: string }[];
    expect(animals.slice(0, 6).map(({ id, name }) => [id, name])).toEqual([
      [1, "Rex"],
      [2, "Bella"],
      [3, "Tom"],
      [4, "Luna"],
      [5, "Kiwi"],
      [6, "Nemo"],
    ]);
    expect((await call("GET", "/categories")).json).toHaveLength(4);
    const added = await call("POST", "/pets", { name: "Ida", categoryId: 1 });
    expect(added.json.id).toBe(25);
  });

  test("adds sales of the last 14 days, and a log that begins with them", async () => {
    const { call, reset } = await newSandbox();
    await reset("samples");
    const now = service.clock.now();
    const since = time(now - 14 * DAY_MS);
    const [first] = (await call("GET", "/events?limit=1")).json;
    expect([first.id, first.at]).toEqual([1, since]);
    const { total, days, sellers } = (await call("GET", `/store/sales?since=${since}&until=${time(now)}`)).json;
    expect([total.sold, total.returned]).toEqual([14, 1]);
    expect(days.filter(({ sold }: { sold: number }) => sold > 0).length).toBeGreaterThan(12);
    expect(sellers.map(({ name, keyId }: { name: string; keyId?: string }) => [name, keyId])).toEqual([
      ["Ann at the till", undefined],
      ["Ben at the till", undefined],
      ["Web shop", undefined],
    ]);
    const { animals, openOrders } = (await call("GET", "/shop")).json;
    expect([animals, openOrders]).toEqual([{ total: 24, available: 9, pending: 1, sold: 13, withoutStatus: 1 }, 0]);
  });

  test("is done once if the request is retried", async () => {
    const { add, call, reset } = await newSandbox();
    const again = { "Idempotency-Key": "start-again" };
    await reset("none", again);
    await add(1);
    const { status, headers } = await reset("none", again);
    expect([status, headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect((await call("GET", "/pets")).json).toHaveLength(1);
  });

  test("deletes the stored responses to other requests", async () => {
    const { call, reset } = await newSandbox();
    const create = () => call("POST", "/pets", { name: "Rex", categoryId: 1 }, { "Idempotency-Key": "first-animal" });
    await create();
    await reset();
    const { status, headers } = await create();
    expect([status, headers.get("idempotent-replayed")]).toEqual([201, null]);
    expect((await call("GET", "/pets")).json).toHaveLength(1);
  });

  test("leaves no earlier write in the new data", async () => {
    const { call, reset } = await newSandbox();
    await call("GET", "/pets");
    const release = await service.store.lock();
    let sent = 0;
    /** Resolves when all sent requests wait for the store. Later requests wait after them. */
    const waiting = () => untilWaiting(service.app.base, sent);
    const create = (name: string) =>
      call("POST", "/pets", { name, categoryId: 1 }, { "Idempotency-Key": `number-${++sent}` });
    const before = Array.from({ length: 8 }, () => create("before"));
    await waiting();
    const isReset = reset("none", { "Idempotency-Key": `number-${++sent}` });
    await waiting();
    const after = Array.from({ length: 8 }, () => create("after"));
    await waiting();
    await release();
    const statuses = async (replies: typeof before) => (await Promise.all(replies)).map(({ status }) => status);
    const [first, later] = [await statuses(before), await statuses(after)];
    expect((await isReset).status).toBe(200);
    // On PostgreSQL, a later request may find its sandbox when it is already the new one.
    const names = (await call("GET", "/pets?limit=100")).json.map(({ name }: { name: string }) => name);
    expect(onPostgres ? names.filter((name: string) => name === "before") : names).toEqual([]);
    if (!onPostgres) expect([first, later]).toEqual([Array(8).fill(201), Array(8).fill(409)]);
    expect(new Set([...first, ...later]).isSubsetOf(new Set([201, 409]))).toBe(true);
    const codes = (await Promise.all([...before, ...after])).map(({ json }) => json.code ?? "none");
    expect(new Set(codes).isSubsetOf(new Set(["none", "sandbox_was_reset"]))).toBe(true);
    await service.app.log.close();
    expect(service.logLines.filter((line) => line.includes("storage_unavailable"))).toEqual([]);
    // The idempotency key of a refused request can be used again.
    const again = await call(
      "POST",
      "/pets",
      { name: "again", categoryId: 1 },
      { "Idempotency-Key": `number-${sent}` },
    );
    if (!onPostgres) expect(again.status).toBe(201);
  });

  test("lets a fast-forward that is committed with it succeed, or refuses it", async () => {
    const { account, call, reset } = await newSandbox();
    await call("GET", "/pets");
    const release = await service.store.lockShop(await service.shop(account.id));
    const forwarded = call("POST", "/sandbox/fast-forward", { seconds: 60 }, { "Idempotency-Key": "forward" });
    await untilWaiting(service.app.base, 1);
    const isReset = reset("none", { "Idempotency-Key": "reset" });
    await untilWaiting(service.app.base, 2);
    await release();
    const [{ status, json }] = await Promise.all([forwarded, isReset]);
    expect([status, json.code]).toEqual(status === 200 ? [200, undefined] : [409, "sandbox_was_reset"]);
    if (!onPostgres) expect(status).toBe(200);
  });

  test("deletes the old data in the background, and nothing of another sandbox", async () => {
    const [one, other] = [await newSandbox(), await newSandbox()];
    for (const { add, order, call } of [one, other]) {
      await add(5);
      await order(1);
      await call("POST", "/categories", { name: "Dogs" }, { "Idempotency-Key": "dogs" });
    }
    const shop = await service.shop(one.account.id);
    await one.reset();
    service.clock.advance(5_000);
    const left = () => service.store.rows(`SELECT shop FROM shops WHERE shop = ${shop}`);
    await eventually(async () => (await left()).length === 0);
    for (const table of ["pets", "store_orders", "categories", "stored_responses"])
      expect([table, await service.store.rows(`SELECT 1 FROM ${table} WHERE shop = ${shop}`)]).toEqual([table, []]);
    expect((await other.call("GET", "/sandbox")).json).toMatchObject({ animals: 5, categories: 1, orders: 1 });
  });
});

test("returns a separate error to a live key, and changes nothing", async () => {
  const production = await TestService.start({ settings: { PETSTORE_ENV: "production" } });
  const { accounts, keys } = production.app;
  const now = production.clock.now();
  const { id } = await accounts.createAccount("Both", "pro", undefined, now);
  const [live, sandbox] = [
    (await keys.issueKey(id, "live", ALL, now, "live")).key,
    (await keys.issueKey(id, "test", ALL, now, "test")).key,
  ];
  const send = (key: string, method: string, path: string, body?: unknown) =>
    production.call(method, path, { key, ...(body === undefined ? {} : { body }) });
  for (const key of [live, sandbox]) {
    await send(key, "POST", "/pets", { name: "Rex", categoryId: 1, status: "available" });
    await send(key, "POST", "/store/orders", { petId: 1 });
  }
  for (const [method, path, body] of [
    ["GET", "/sandbox", undefined],
    ["POST", "/sandbox/fast-forward", { seconds: 900 }],
    ["POST", "/sandbox/reset", { animals: "none" }],
  ] as const) {
    const { status, json } = await send(live, method, path, body);
    expect([path, status, json.code]).toEqual([path, 403, "test_key_required"]);
  }
  const limits = async (key: string) => (await send(key, "GET", "/key")).json.limits;
  const before = await limits(live);
  await send(sandbox, "POST", "/sandbox/fast-forward", { seconds: 86_400 });
  await send(sandbox, "POST", "/sandbox/reset", { animals: "none" });
  expect((await send(live, "GET", "/pets/1")).json.status).toBe("pending");
  const order = (await send(live, "GET", "/store/orders/1")).json;
  expect([order.status, order.placedAt]).toEqual(["placed", time(now)]);
  const after = await limits(live);
  expect([after.minute.used, after.day.used]).toEqual([before.minute.used + 2, before.day.used + 2]);
  expect([after.minute.reset, after.day.reset]).toEqual([before.minute.reset, before.day.reset]);
  await production.stop();
});
