import { afterAll, beforeAll, expect, test } from "bun:test";
import { NOON } from "../../../test/harness/manual-clock.ts";
import { TestService } from "../../../test/harness/service.ts";
import { WorkByHand } from "../../../test/harness/work-by-hand.ts";

/** Reservations that ended while the service did not run. */
const DUE = 4_500;

const work = new WorkByHand();
let service: TestService;
let key: string;

beforeAll(async () => {
  service = await TestService.start({ domains: work.domains });
  key = await service.newKey();
  const ids = Array.from({ length: DUE }, (_, index) => index + 1);
  const shop = await service.shop();
  const pets = ids.map((id) => `(${shop}, ${id}, 'Rex', 1, 'pending', 0)`).join(", ");
  await service.store.run(`
    INSERT INTO pets (shop, id, name, category_id, status, added_at)
    VALUES ${pets}, (${shop}, ${DUE + 1}, 'Rex', 1, 'available', 0)
  `);
  const orders = ids
    .map((id) => `(${shop}, ${id}, ${id}, 'placed', ${NOON - 2 * DUE}, ${NOON - id}, ${NOON - id})`)
    .join(", ");
  await service.store.run(`
    INSERT INTO store_orders (shop, id, pet_id, status, placed_at, expires_at, due_at) VALUES ${orders}
  `);
  await service.store.run(`UPDATE shops SET last_pet_id = ${DUE + 1}, last_order_id = ${DUE} WHERE shop = ${shop}`);
});
afterAll(() => service.stop());

const call = (method: string, path: string, body?: unknown) => service.call(method, path, { key, body });

/** How many animals of the store are pending. */
async function pending(): Promise<number> {
  let count = 0;
  for (let path: string | undefined = "/pets?status=pending&limit=100"; path !== undefined; ) {
    const { json, headers } = await call("GET", path);
    count += json.length;
    const next = /<([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
    path = next?.slice(service.app.base.length);
  }
  return count;
}

test("very many reservations that have ended are let go in parts, the oldest first, and others get a turn between", async () => {
  let isRoundOver = false;
  const round = work.round().then(() => (isRoundOver = true));
  const { status } = await call("POST", "/store/orders", { petId: DUE + 1 });
  expect([status, isRoundOver]).toEqual([201, false]);
  await round;
  expect((await call("GET", `/store/orders/${DUE}`)).json.status).toBe("expired");
  expect((await call("GET", "/store/orders/1")).json.status).toBe("placed");
  expect(await pending()).toBe(1 + DUE - 2_000);
  await work.round();
  await work.round();
  expect(await pending()).toBe(1);
  expect((await call("GET", "/store/orders/1")).json.status).toBe("expired");
});
