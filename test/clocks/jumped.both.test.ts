// The wall clock is set 40 days ahead while the service runs, as a wrong time server does. Nothing is lost by it.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { scopes } from "../../src/contract/caller.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/timing/clock.ts";
import { ManualClock, NOON } from "../harness/manual-clock.ts";
import { metricsText } from "../harness/metrics.ts";
import { eventually } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";
import { onPostgres } from "../harness/test-store.ts";

const JUMP = 40 * DAY_MS; // longer than anything but the usage by day is kept

let service: TestService;
let key: string;
beforeEach(async () => {
  service = await TestService.start();
  key = await service.newKey("enterprise", undefined, scopes);
});
afterEach(() => service.stop());

const create = (name: string) =>
  service.call("POST", "/pets", { key, headers: { "Idempotency-Key": name }, body: { name, categoryId: 1 } });
const countOf = async (table: string) => (await service.store.rows(`SELECT 1 FROM ${table}`)).length;
const call = async (method: string, path: string, body?: object) =>
  (await service.call(method, path, { key, body })).json;
const aheadLines = () => service.logLines.filter((line) => line.includes('"shop_ahead_of_clock"'));
const minutesFromNow = (time: string) => (Date.parse(time) - service.clock.now()) / MINUTE_MS;

/** Reserves and sells an animal. Times and figures are those of the clock of the service. */
async function expectTimesOfTheClock(): Promise<void> {
  const [{ id: petId }, { id: other }] = [
    await call("POST", "/pets", { name: "Rex", categoryId: 1, status: "available" }),
    await call("POST", "/pets", { name: "Tom", categoryId: 1, status: "available" }),
  ];
  const before = await call("GET", "/shop");
  const order = await call("POST", "/store/orders", { petId });
  expect(minutesFromNow(order.expiresAt)).toBe(15);
  expect(await call("POST", `/store/orders/${order.id}/confirm`)).toMatchObject({
    confirmedAt: new Date(service.clock.now()).toISOString(),
  });
  expect((await call("GET", "/shop")).today.sold).toBe(before.today.sold + 1);
  const [{ sold }] = (await call("GET", "/store/sales")).days;
  expect(sold).toBe(before.today.sold + 1);
  const short = await call("POST", "/store/orders", {
    petId: other,
    expiresAt: new Date(service.clock.now() + MINUTE_MS).toISOString(),
  });
  service.clock.advance(MINUTE_MS);
  await eventually(async () => (await call("GET", `/pets/${other}`)).status === "available");
  expect((await call("GET", `/store/orders/${short.id}`)).status).toBe("expired");
}

test("after a write 40 days ahead and a restart, orders, sales and days follow the clock that is right", async () => {
  service.clock.setWall(service.clock.now() + JUMP);
  await call("POST", "/pets", { name: "Max", categoryId: 1 });
  service = await service.restart(() => service.clock.setWall(service.clock.now() - JUMP));
  await eventually(() => aheadLines().length > 0);
  await expectTimesOfTheClock();
  service.clock.advance(DAY_MS);
  expect((await call("GET", "/shop")).today).toMatchObject({ added: 0, sold: 0, expired: 0 });
  await expectTimesOfTheClock();
  expect(aheadLines()).toEqual([expect.stringContaining(`"seconds":${JUMP / SECOND_MS}`)]);
});

test.skipIf(!onPostgres)("of two processes 20 minutes apart, each follows its clock", async () => {
  const fast = await TestService.start({ store: service.store, clock: new ManualClock(NOON + 20 * MINUTE_MS) });
  const atFast = async (method: string, path: string, body?: object) =>
    (await fast.call(method, path, { key, body })).json;
  const { id: petId } = await atFast("POST", "/pets", { name: "Max", categoryId: 1, status: "available" });
  await expectTimesOfTheClock();
  const { id } = await atFast("POST", "/store/orders", { petId });
  expect((await call("POST", `/store/orders/${id}/confirm`)).status).toBe("confirmed");
  await eventually(() => [...aheadLines(), ...fast.logLines.filter((line) => line.includes("ahead_of"))].length > 0);
  await fast.app.stop();
});

const jumpLines = () => service.logLines.filter((line) => line.includes('"clock_jumped"'));
const ahead = async () => Number(/^petstore_clock_ahead_seconds (.*)$/m.exec(await metricsText(service.app.base))?.[1]);

/** Waits until the background work of another round is done: what is due by the monotonic clock goes in each. */
async function anotherRound(): Promise<void> {
  await create(crypto.randomUUID());
  const before = await countOf("stored_responses");
  service.clock.advance(24 * HOUR_MS);
  await eventually(async () => (await countOf("stored_responses")) < before);
}

test("stored responses, events, requests and usage stay; the log says so once, and a metric", async () => {
  const kinds = ["events", "request_records", "usage_counts"];
  await create("due before");
  service.clock.advance(23 * HOUR_MS);
  const first = await create("kept");
  await service.call("GET", "/pets/9", { key }); // recorded, because it fails
  const counts = () => Promise.all(kinds.map(countOf));
  await eventually(async () => (await counts()).every((count) => count > 0));
  const before = await counts();
  expect([jumpLines(), await ahead()]).toEqual([[], 0]);

  service.clock.setWall(service.clock.now() + JUMP);
  service.clock.advance(HOUR_MS);
  await eventually(async () => (await countOf("stored_responses")) === 1); // a round in which the first one was due
  const repeated = await create("kept");
  expect([repeated.text, repeated.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
  expect(await ahead()).toBe(JUMP / SECOND_MS);

  service.clock.setWall(service.clock.now() - JUMP);
  service.clock.advance(MINUTE_MS);
  await anotherRound();
  const after = await counts();
  expect(kinds.filter((_, index) => (after[index] as number) < (before[index] as number))).toEqual([]);
  expect(await ahead()).toBe(0);
  expect(jumpLines()).toEqual([expect.stringContaining(`"seconds":${JUMP / SECOND_MS}`)]);
});
