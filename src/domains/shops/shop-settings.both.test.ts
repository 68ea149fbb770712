// The settings of a shop, and what follows from them.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ManualTasks } from "../../../test/harness/manual-tasks.ts";
import { numbers } from "../../../test/harness/numbers.ts";
import { TestService } from "../../../test/harness/service.ts";
import { scopes } from "../../contract/caller.ts";
import { DAY_MS, HOUR_MS } from "../../timing/clock.ts";

const tasks = new ManualTasks();
let service: TestService;
beforeAll(async () => {
  service = await TestService.start({ domains: tasks.domains });
});
afterAll(() => service.stop());

async function newShop(at = "2026-11-21T12:00:00Z") {
  service.clock.setWall(Date.parse(at));
  const { account, key } = await service.newAccountWithKey("enterprise", undefined, scopes);
  const call = (method: string, path: string, body?: unknown) => service.call(method, path, { key, body });
  const added = async () => (await call("GET", "/shop")).json.today.added;
  const add = () => call("POST", "/pets", { name: "Rex", categoryId: 1, status: "available" });
  return { account, call, added, add };
}

test("a change of the settings is shown, and recorded if it is one", async () => {
  const { account, call } = await newShop();
  const berlin = { timeZone: "Europe/Berlin", currency: "EUR" };
  const { status, json } = await call("PATCH", "/shop", berlin);
  expect([status, json]).toEqual([200, (await call("GET", "/shop")).json]);
  expect(json).toMatchObject({ ...berlin, today: { since: "2026-11-20T23:00:00.000Z" } });
  expect((await call("PATCH", "/shop", berlin)).status).toBe(200);
  expect((await call("PATCH", "/shop", { currency: null })).json.currency).toBeUndefined();
  const events = (await call("GET", "/events?type=shop.updated")).json;
  const subject = { type: "shop", id: account.id };
  expect(events).toMatchObject([
    { subject, data: berlin, previous: { timeZone: "UTC", currency: null } },
    { subject, data: { timeZone: "Europe/Berlin" }, previous: { currency: "EUR" } },
  ]);
});

test("only a key with the scope admin may change them", async () => {
  const key = await service.newKey();
  const { status, json } = await service.call("PATCH", "/shop", { key, body: { currency: "EUR" } });
  expect([status, json.code]).toEqual([403, "insufficient_scope"]);
});

test.each([
  [
    { timeZone: "Mars/Olympus" },
    "timeZone",
    expect.stringContaining("must be a time zone of the IANA database, such as Europe/Berlin; got"),
  ],
  [
    { timeZone: "CET+1" },
    "timeZone",
    expect.stringContaining("must be a time zone of the IANA database, such as Europe/Berlin; got"),
  ],
  [
    { timeZone: "+02:00" },
    "timeZone",
    expect.stringContaining("must be a time zone of the IANA database, such as Europe/Berlin; got"),
  ],
  [{ timeZone: null }, "timeZone", "must be a string; got null"],
  [{ currency: "XYZ" }, "currency", expect.stringContaining("must be a currency of ISO 4217, such as EUR; got")],
  [{ currency: "eur" }, "currency", expect.stringContaining("must be a currency of ISO 4217, such as EUR; got")],
])("refuses %j", async (body, field, message) => {
  const { call } = await newShop();
  const { status, json } = await call("PATCH", "/shop", body);
  expect([status, json.details]).toEqual([400, [{ path: `/body/${field}`, message }]]);
});

test("a price without a currency has that of the shop", async () => {
  const { call, add } = await newShop();
  await call("PATCH", "/shop", { currency: "CHF" });
  await add();
  const { json } = await call("POST", "/store/orders", { petId: 1, price: { amount: 5 }, confirm: true });
  expect(json.price).toEqual({ amount: 5, currency: "CHF" });
});

test.each([
  // Midnight in summer, the day that is an hour longer, and the day after.
  ["Europe/Berlin", "2026-10-24T21:59:59.999Z", [1, 25 * HOUR_MS, DAY_MS]],
  // The clocks show the last hour of the day twice.
  ["Asia/Beirut", "2026-10-24T21:59:59.999Z", [1, DAY_MS, DAY_MS]],
  ["Pacific/Kiritimati", "2026-11-21T09:59:59.999Z", [1, DAY_MS, DAY_MS]],
  // Offsets are looked up every 30 days, and in between a shop knows the next one.
  ["America/New_York", "2026-10-31T03:59:59.999Z", [1, DAY_MS, 25 * HOUR_MS]],
])("days end at midnight in %s", async (timeZone, last, lengths) => {
  const { call, added, add } = await newShop(last);
  await call("PATCH", "/shop", { timeZone });
  await add();
  for (const length of lengths) {
    service.clock.setWall(service.clock.now() + length - 1);
    await add();
    expect(await added()).toBeGreaterThan(0);
    await tasks.run();
    service.clock.setWall(service.clock.now() + 1);
    expect(await added()).toBe(0);
    await add();
    expect(await added()).toBe(1);
  }
});

test("another time zone counts today again, and changes nothing else", async () => {
  const { call, add } = await newShop("2026-11-21T03:00:00Z");
  const sell = async () => {
    const { id: petId } = (await add()).json;
    return (await call("POST", "/store/orders", { petId, confirm: true })).json.id;
  };
  await call("POST", `/store/orders/${await sell()}/return`); // on the 20th in New York
  service.clock.setWall(Date.parse("2026-11-21T12:00:00Z"));
  const order = await sell();
  await call("POST", `/store/orders/${order}/return`);
  await sell();
  const status = '"status":"sold"';
  await call("POST", "/pets", { name: status, categoryId: 1, status: "available", metadata: { status: "sold" } });
  await call("PATCH", "/pets/4", { metadata: { status: "sold ", till: status } });
  await call("PATCH", "/pets/4", { status: "sold" });
  await call("POST", "/pets", { name: "Rex", categoryId: 1, metadata: { status: "none" } });
  await call("PATCH", "/pets/5", { status: "sold", metadata: { status: "sold" } });
  await call("POST", "/store/orders", { petId: 1 });
  service.clock.advance(HOUR_MS);
  await tasks.run();
  const before = (await call("GET", "/shop")).json;
  expect(before.today).toMatchObject({ added: 5, sold: 3, returned: 2, markedSold: 2, expired: 1 });
  const orders = (await call("GET", "/store/orders")).json;
  const { json } = await call("PATCH", "/shop", { timeZone: "America/New_York" });
  const today = { since: "2026-11-21T05:00:00.000Z", added: 4, sold: 2, returned: 1, markedSold: 2, expired: 1 };
  expect(json).toEqual({ ...before, timeZone: "America/New_York", today });
  expect((await call("GET", "/store/orders")).json).toEqual(orders);
  expect((await call("PATCH", "/shop", { timeZone: "UTC" })).json).toEqual(before);
});

test("today says since when it is counted if too much has happened", async () => {
  const { account, call, added } = await newShop();
  const shop = await service.shop(account.id);
  const data = JSON.stringify({ id: 1, name: "Rex", categoryId: 1 });
  const noon = service.clock.now();
  await service.store.run(`DELETE FROM events WHERE shop = ${shop}`);
  await service.store.run(
    `${numbers(20_000)} INSERT INTO events (shop, id, at, type, under, actor, data) SELECT ${shop}, n, ${noon} + n, 'pet.created', 1, 'system', '${data}' FROM numbers`,
  );
  await service.store.run(`UPDATE shops SET last_event_id = 20000, last_at = ${noon + 20_000} WHERE shop = ${shop}`);
  service.clock.advance(20_000);
  const { json } = await call("PATCH", "/shop", { timeZone: "Europe/Berlin" });
  expect(json.today).toMatchObject({ since: new Date(noon + 10_001).toISOString(), added: 10_000 });
  service.clock.advance(DAY_MS);
  expect((await call("GET", "/shop")).json.today.since).toBe("2026-11-21T23:00:00.000Z");
  expect(await added()).toBe(0);
});

test("a sandbox keeps its settings when it is reset", async () => {
  const { call } = await newShop();
  const settings = { timeZone: "Asia/Tokyo", currency: "JPY" };
  await call("PATCH", "/shop", settings);
  await call("POST", "/sandbox/reset", { animals: "none" });
  expect((await call("GET", "/shop")).json).toMatchObject({ ...settings, animals: { total: 0 } });
});
