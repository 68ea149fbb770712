// When a clock is advanced, up to 10,000 items of due work are done before the response, and the rest in the background.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { NOON } from "../../../test/harness/manual-clock.ts";
import { ManualTasks } from "../../../test/harness/manual-tasks.ts";
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
  const shop = await service.shop();
  const end = NOON + 900_000;
  const ids = Array.from({ length: AT_ONCE + MORE }, (_, index) => index + 1);
  const pets = ids.map((id) => `(${shop}, ${id}, 'Rex', 1, 'pending', 0)`).join(", ");
  await service.store.run(`INSERT INTO pets (shop, id, name, category_id, status, added_at) VALUES ${pets}`);
  const orders = ids.map((id) => `(${shop}, ${id}, ${id}, 'placed', ${NOON}, ${end}, ${end})`).join(", ");
  await service.store.run(
    `INSERT INTO store_orders (shop, id, pet_id, status, placed_at, expires_at, due_at) VALUES ${orders}`,
  );
  const last = AT_ONCE + MORE;
  await service.store.run(`UPDATE shops SET last_pet_id = ${last}, last_order_id = ${last} WHERE shop = ${shop}`);
});
afterAll(() => service.stop());

const call = (method: string, path: string, body?: unknown) =>
  service.call(method, path, { key, ...(body === undefined ? {} : { body }) });

test("10,000 reservations end before the response, and the others in the background", async () => {
  const waiting = async () => (await call("GET", "/sandbox")).json.waiting;
  expect((await waiting())[0].count).toBe(AT_ONCE); // the count stops here
  expect((await call("POST", "/sandbox/fast-forward", { seconds: 900 })).status).toBe(200);
  expect((await waiting())[0].count).toBe(MORE);
  expect((await call("GET", `/pets/${AT_ONCE}`)).json.status).toBe("available");
  await tasks.run();
  expect(await waiting()).toEqual([]);
});
