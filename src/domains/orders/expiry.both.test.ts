import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { failureOf } from "../../../test/harness/failure-of.ts";
import { NOON } from "../../../test/harness/manual-clock.ts";
import { ManualTasks } from "../../../test/harness/manual-tasks.ts";
import { metric } from "../../../test/harness/metrics.ts";
import { nextOf } from "../../../test/harness/next-page.ts";
import { TestService } from "../../../test/harness/service.ts";
import { MINUTE_MS } from "../../timing/clock.ts";

/** Reservations that ended while the service did not run. */
const DUE = 4_500;

const tasks = new ManualTasks();
let service: TestService;
let key: string;

beforeAll(async () => {
  service = await TestService.start({ domains: tasks.domains });
  key = await service.newKey();
  const ids = Array.from({ length: DUE }, (_, index) => index + 1);
  const shop = await service.shop();
  const pets = ids.map((id) => `(${shop}, ${id}, 'Rex', 1, 'pending', 0)`).join(", ");
  await service.store.run(`
    INSERT INTO pets (shop, id, name, category_id, status, added_at)
    VALUES ${pets}
  `);
  const orders = ids
    .map((id) => `(${shop}, ${id}, ${id}, 'placed', ${NOON - 2 * DUE}, ${NOON - id}, ${NOON - id})`)
    .join(", ");
  await service.store.run(`
    INSERT INTO store_orders (shop, id, pet_id, status, placed_at, expires_at, due_at) VALUES ${orders}
  `);
  await service.store.run(`UPDATE shops SET last_pet_id = ${DUE}, last_order_id = ${DUE} WHERE shop = ${shop}`);
});
afterAll(() => service.stop());

const call = (method: string, path: string, body?: unknown) => service.call(method, path, { key, body });

const transactions = () => metric(service.app.base, "petstore_transactions_total");

/** How many animals of the store are pending. */
async function pending(): Promise<number> {
  let count = 0;
  for (let path: string | undefined = "/pets?status=pending&limit=100"; path !== undefined; ) {
    const page = await call("GET", path);
    count += page.json.length;
    path = nextOf(page);
  }
  return count;
}

test("many ended reservations expire in parts, the oldest first, in transactions that end soon", async () => {
  const before = await transactions();
  await tasks.run();
  expect((await transactions()) - before).toBeGreaterThanOrEqual(2_000 / 25);
  expect((await call("GET", `/store/orders/${DUE}`)).json.status).toBe("expired");
  expect((await call("GET", "/store/orders/1")).json.status).toBe("placed");
  expect(await pending()).toBe(DUE - 2_000);
  await tasks.run();
  await tasks.run();
  expect(await pending()).toBe(0);
  expect((await call("GET", "/store/orders/1")).json.status).toBe("expired");
});

/** Places an order in a new shop. */
async function newOrder() {
  const { account, key: own } = await service.newAccountWithKey("enterprise");
  const send = (method: string, path: string, body?: object) => service.call(method, path, { key: own, body });
  await send("POST", "/pets", { name: "Rex", categoryId: 1, status: "available" });
  expect((await send("POST", "/store/orders", { petId: 1 })).status).toBe(201);
  const status = async () => (await send("GET", "/store/orders/1")).json.status;
  return { account, send, status };
}

describe("an animal whose reservation has ended but has not expired", () => {
  test.each([
    ["can be deleted", "DELETE", undefined, [204, undefined]],
    ["can change its status", "PATCH", { status: "sold" }, [200, "sold"]],
    ["can be set to pending again", "PATCH", { status: "pending" }, [200, "pending"]],
  ])("%s", async (_, method, body, expected) => {
    const order = await newOrder();
    service.clock.advance(15 * MINUTE_MS);
    const { status, json } = await order.send(method, "/pets/1", body);
    expect([status, json?.status]).toEqual(expected);
    expect(await order.status()).toBe("expired");
    await tasks.run();
    expect((await order.send("GET", "/shop")).json).toMatchObject({ openOrders: 0, today: { expired: 1 } });
  });
});

test("a failure in one shop does not keep reservations of other shops from expiring", async () => {
  const failing = await newOrder();
  const shop = await service.shop(failing.account.id);
  const due = service.clock.now() + 15 * MINUTE_MS;
  const ids = Array.from({ length: 250 }, (_, index) => index + 2); // more than a batch
  await service.store.run(`
    INSERT INTO store_orders (shop, id, pet_id, status, placed_at, expires_at, due_at)
    VALUES ${ids.map((id) => `(${shop}, ${id}, ${id}, 'placed', 0, ${due}, ${due})`).join(", ")}
  `);
  // Its next event would get the id of an earlier one.
  await service.store.run(`UPDATE shops SET last_event_id = last_event_id - 1 WHERE shop = ${shop}`);
  service.clock.advance(1);
  const orders = [failing, await newOrder(), await newOrder()];
  service.clock.advance(15 * MINUTE_MS);
  expect(await failureOf(tasks.run())).toBeInstanceOf(Error);
  expect(await Promise.all(orders.map(({ status }) => status()))).toEqual(["placed", "expired", "expired"]);
  await service.store.run(`UPDATE shops SET last_event_id = last_event_id + 1 WHERE shop = ${shop}`);
  await service.store.run(`DELETE FROM store_orders WHERE shop = ${shop} AND id > 1`);
  await tasks.run();
  expect(await failing.status()).toBe("expired");
});

test("reservations of a sandbox that was reset do not keep later ones of other shops from expiring", async () => {
  const gone = await newOrder();
  service.clock.advance(1);
  const other = await newOrder();
  service.clock.advance(15 * MINUTE_MS);
  await gone.send("POST", "/sandbox/reset", { animals: "none" });
  await tasks.run();
  expect(await other.status()).toBe("expired");
});
