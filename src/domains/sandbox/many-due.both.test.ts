// After a fast-forward, up to 10,000 reservations end before the response, and the rest in the background.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { NOON } from "../../../test/harness/manual-clock.ts";
import { ManualTasks } from "../../../test/harness/manual-tasks.ts";
import { metric } from "../../../test/harness/metrics.ts";
import { eventually } from "../../../test/harness/program.ts";
import { TestService } from "../../../test/harness/service.ts";

/** The maximum number of items in one step, and more open orders than that. */
const AT_ONCE = 10_000;
const MORE = 50;

const tasks = new ManualTasks();
let service: TestService;
let key: string;
beforeAll(async () => {
  service = await TestService.start({ domains: tasks.domains });
  key = await service.newKey();
  await placeOrders(await service.shop(), AT_ONCE + MORE);
});
afterAll(() => service.stop());

/** Adds this many animals with open orders to an empty shop. */
async function placeOrders(shop: number, count: number): Promise<void> {
  const end = NOON + 900_000;
  const ids = Array.from({ length: count }, (_, index) => index + 1);
  const pets = ids.map((id) => `(${shop}, ${id}, 'Rex', 1, 'pending', 0)`).join(", ");
  await service.store.run(`INSERT INTO pets (shop, id, name, category_id, status, added_at) VALUES ${pets}`);
  const orders = ids.map((id) => `(${shop}, ${id}, ${id}, 'placed', ${NOON}, ${end}, ${end})`).join(", ");
  await service.store.run(
    `INSERT INTO store_orders (shop, id, pet_id, status, placed_at, expires_at, due_at) VALUES ${orders}`,
  );
  await service.store.run(`UPDATE shops SET last_pet_id = ${count}, last_order_id = ${count} WHERE shop = ${shop}`);
}

const call = (method: string, path: string, body?: unknown, by = key) =>
  service.call(method, path, { key: by, ...(body === undefined ? {} : { body }) });

test("10,000 reservations end before the response, and the others in the background", async () => {
  const waiting = async () => (await call("GET", "/sandbox")).json.waiting;
  expect((await waiting())[0].count).toBe(AT_ONCE); // the count stops here
  expect((await call("POST", "/sandbox/fast-forward", { seconds: 900 })).status).toBe(200);
  expect((await waiting())[0].count).toBe(MORE);
  expect((await call("GET", `/pets/${AT_ONCE}`)).json.status).toBe("available");
  await tasks.run();
  expect(await waiting()).toEqual([]);
});

test("a fast-forward succeeds if the sandbox is reset while its reservations end", async () => {
  const { key: own, account } = await service.newAccountWithKey("enterprise");
  const shop = await service.shop(account.id);
  await placeOrders(shop, AT_ONCE); // they end for so long that the reset comes in between
  const forwarded = call("POST", "/sandbox/fast-forward", { seconds: 900 }, own);
  const nearer = `SELECT 1 FROM store_orders WHERE shop = ${shop} AND due_at < ${NOON + 900_000}`;
  await eventually(async () => (await service.store.rows(nearer)).length > 0);
  expect((await call("POST", "/sandbox/reset", { animals: "none" }, own)).status).toBe(200);
  const { status, json } = await forwarded;
  expect([status, json.animals, json.orders]).toEqual([200, 0, 0]);
});

test("stored responses are brought nearer in several transactions, so that other shops are served in between", async () => {
  const { key: own, account } = await service.newAccountWithKey("enterprise");
  const shop = await service.shop(account.id);
  const [stored, end] = [600, NOON + 86_400_000];
  const rows = Array.from({ length: stored }, (_, index) => `(${shop}, 'digest ${index}', '', '{}', ${end})`);
  await service.store.run(
    `INSERT INTO stored_responses (shop, digest, fingerprint, response, due_at) VALUES ${rows.join(", ")}`,
  );
  const transactions = () => metric(service.app.base, "petstore_transactions_total");
  const before = await transactions();
  const headers = { "Idempotency-Key": "own" };
  const sent = { key: own, body: { seconds: 60 }, headers };
  expect((await service.call("POST", "/sandbox/fast-forward", sent)).status).toBe(200);
  expect((await transactions()) - before).toBeGreaterThanOrEqual(1 + stored / 250);
  const counts = `SELECT due_at, count(*) AS count FROM stored_responses WHERE shop = ${shop} GROUP BY due_at ORDER BY due_at`;
  expect((await service.store.rows(counts)).map((row) => Object.values(row as object).map(Number))).toEqual([
    [end - 60_000, stored],
    [end, 1], // its own
  ]);
});

test("the earliest of more than 10,000 waiting webhook deliveries is shown", async () => {
  const { key: own, account } = await service.newAccountWithKey("enterprise");
  const shop = await service.shop(account.id);
  const endpoint = (id: string, waitsUntil: number) =>
    `('${account.id}', 'test', '${id}', 'https://shop.example', '[]', '', 'enabled', '[]', ${NOON}, ${shop}, 0, ${waitsUntil}, '{}')`;
  await service.store.run(
    `INSERT INTO webhook_endpoints (account_id, mode, id, url, types, description, state, secrets, created_at,
       followed_shop, position, waits_until, health)
     VALUES ${endpoint("first", NOON + 7_200_000)}, ${endpoint("second", NOON + 3_600_000)}`,
  );
  const attempts = Array.from({ length: AT_ONCE }, (_, id) => `(${shop}, 'first', ${id + 1}, 'event', 1, ${NOON})`);
  await service.store.run(
    `INSERT INTO webhook_attempts (shop, endpoint_id, event_id, kind, attempt, due_at)
     VALUES ${attempts.join(", ")}, (${shop}, 'second', 1, 'event', 1, ${NOON})`,
  );
  const { waiting } = (await call("GET", "/sandbox", undefined, own)).json;
  const next = new Date(NOON + 3_600_000).toISOString();
  expect(waiting[0]).toEqual({ kind: "webhook_attempt", count: AT_ONCE, next });
});
