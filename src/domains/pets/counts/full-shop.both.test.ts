// A shop has a size, which its plan or the operator sets. No request, however it adds animals, goes beyond it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestService } from "../../../../test/harness/service.ts";
import { unlimitedQuota } from "../../../../test/harness/unlimited.ts";

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

/** The requests of a new account whose shops may hold so many animals. */
async function shopOf(animals: number) {
  const { key, account } = await service.newAccountWithKey("enterprise", { ...unlimitedQuota, animals });
  const call = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
    service.call(method, path, { key, ...(body && { body }), ...(headers && { headers }) });
  return {
    account,
    call,
    add: (more: object = {}, headers?: Record<string, string>) =>
      call("POST", "/pets", { name: "Rex", categoryId: 1, ...more }, headers),
    load: (count: number, more: object = {}) =>
      call("POST", "/pets/import", {
        animals: Array.from({ length: count }, () => ({ name: "Rex", categoryId: 1 })),
        ...more,
      }),
    size: async () => {
      const { json } = await call("GET", "/shop");
      return [json.animals.total, json.animalsAllowed];
    },
  };
}

test("exactly as many animals as allowed are added, one by one and together", async () => {
  const shop = await shopOf(10);
  expect((await shop.load(11)).json).toMatchObject({ status: 409, code: "shop_full" });
  expect((await shop.load(11, { onError: "skip" })).json.code).toBe("shop_full");
  expect(await shop.size()).toEqual([0, 10]);
  expect((await shop.load(4)).status).toBe(201);
  expect((await shop.add({ metadata: { a: "b" } })).status).toBe(201);
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => shop.add({}, index % 2 ? { "Idempotency-Key": `${index}` } : {})),
  );
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused.map(({ status, json: { code } }) => [status, code])).toEqual(refused.map(() => [409, "shop_full"]));
  expect([refused.length, ...(await shop.size())]).toEqual([7, 10, 10]);
  const { json } = await shop.add({ reference: "chip 1" });
  const message = "The shop may hold 10 animals. Delete some, or ask for another plan.";
  expect(json).toEqual({ code: "shop_full", message, status: 409 });
});

test("after a deletion, the next animal fits; others are served as before", async () => {
  const shop = await shopOf(2);
  await shop.load(2);
  expect((await shop.add()).status).toBe(409);
  expect((await shop.call("PATCH", "/pets/1", { name: "Tom" })).status).toBe(200);
  await shop.call("DELETE", "/pets/1");
  expect((await shop.add()).json.id).toBe(3);
});

test("a refusal is stored under its key", async () => {
  const shop = await shopOf(1);
  await shop.add();
  const headers = { "Idempotency-Key": "a" };
  expect((await shop.add({}, headers)).json.code).toBe("shop_full");
  await shop.call("DELETE", "/pets/1");
  const again = await shop.add({}, headers);
  expect([again.json.code, again.headers.get("idempotent-replayed")]).toEqual(["shop_full", "true"]);
});

test("a refusal whose response was lost with the process stays one, whatever the shop may hold by then", async () => {
  const { add } = await shopOf(1);
  await add();
  const headers = { "Idempotency-Key": "a" };
  await add({}, headers);
  await service.store.rows("UPDATE stored_responses SET response = '' RETURNING shop");
  await service.store.rows("UPDATE shops SET animals_allowed = NULL RETURNING shop");
  const { status, json } = await add({}, headers);
  expect([status, json.code, json.message]).toEqual([409, "shop_full", expect.stringContaining("was full")]);
  expect((await add({}, { "Idempotency-Key": "b" })).status).toBe(201);
});

test("full shops among others that add animals at the same moment delay none of them", async () => {
  const shops = await Promise.all([1, 1_000, 2, 1_000].map(shopOf));
  const answers = await Promise.all(shops.flatMap((shop) => Array.from({ length: 5 }, () => shop.add())));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1 + 5 + 2 + 5);
  for (const [index, most] of [1, 5, 2, 5].entries()) expect((await shops[index]?.size())?.[0]).toBe(most);
});

test("each plan has its size, and a change of the plan counts at once", async () => {
  const { account, key } = await service.newAccountWithKey("free");
  const allowed = async (mode: "live" | "test") =>
    (
      await service.store.rows(
        `SELECT animals_allowed FROM shops WHERE account_id = '${account.id}' AND mode = '${mode}'`,
      )
    ).map((row) => String((row as { animals_allowed: unknown }).animals_allowed));
  const expected = [
    ["free", undefined, "10000", "10000"],
    ["pro", undefined, "100000", "10000"],
    ["business", undefined, "1000000", "10000"],
    ["enterprise", unlimitedQuota, "null", "10000"],
    ["enterprise", { ...unlimitedQuota, animals: 20_000 }, "20000", "10000"],
  ] as const;
  for (const [plan, agreed, ...sizes] of expected) {
    await service.app.accounts.setPlan(account.id, plan, agreed);
    expect([...(await allowed("live")), ...(await allowed("test"))]).toEqual(sizes);
  }
  await service.app.accounts.setPlan(account.id, "enterprise", { ...unlimitedQuota, animals: 1 });
  const add = () => service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1 } });
  expect([(await add()).status, (await add()).status]).toEqual([201, 409]);
  const { animals } = await service.app.accounts.setPlan(account.id, "enterprise", unlimitedQuota);
  expect([animals, (await add()).status]).toEqual([undefined, 201]);
});
