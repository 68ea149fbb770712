import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type TestResponse, TestService } from "../../../test/harness/service.ts";

let service: TestService;
let key: string;

beforeAll(async () => {
  service = await TestService.start();
  key = await service.newKey();
});
afterAll(() => service.stop());
beforeEach(() => service.store.empty());

const change = (verb: string, ifMatch: string, headers: Record<string, string> = {}, id = 1) =>
  service.call("POST", `/store/orders/${id}/${verb}`, { key, headers: { "If-Match": ifMatch, ...headers } });
const tagOf = ({ headers }: TestResponse) => headers.get("etag") as string;
const outcomeOf = ({ status, json }: TestResponse) => [status, json.code ?? json.status];

/** Places the order 1. */
async function place(): Promise<TestResponse> {
  const body = { name: "Rex", categoryId: 1, status: "available" };
  const { json } = await service.call("POST", "/pets", { key, body });
  return service.call("POST", "/store/orders", { key, body: { petId: json.id } });
}

test("If-Match accepts the current entity tag of the order", async () => {
  const confirmed = await change("confirm", tagOf(await place()));
  expect(outcomeOf(confirmed)).toEqual([200, "confirmed"]);
  const listed = await service.call("GET", "/store/orders?ids=1", { key });
  expect(outcomeOf(await change("return", tagOf(listed)))).toEqual([200, "returned"]);
  await service.store.empty();
  expect(outcomeOf(await change("cancel", tagOf(await place())))).toEqual([200, "cancelled"]);
});

test("If-Match refuses the entity tag of an order that has changed, and changes nothing", async () => {
  const placed = await place();
  const body = { metadata: { till: "3" } };
  const changed = await service.call("PATCH", "/store/orders/1", { key, body });
  for (const verb of ["confirm", "cancel", "return"]) {
    // Checked before the status of the order, which allows no return.
    expect(outcomeOf(await change(verb, tagOf(placed)))).toEqual([412, "precondition_failed"]);
  }
  expect((await service.call("GET", "/store/orders/1", { key })).text).toBe(changed.text);
  const { json } = await service.call("GET", "/pets/1", { key });
  expect(json.status).toBe("pending");
});

test("If-Match is ignored for an order that does not exist", async () => {
  expect(outcomeOf(await change("confirm", "*"))).toEqual([404, "order_not_found"]);
});

test("a repeated change with an Idempotency-Key gets the first response, and with another If-Match 422", async () => {
  const tag = tagOf(await place());
  const once = { "Idempotency-Key": "k1" };
  const first = await change("confirm", tag, once);
  expect(outcomeOf(first)).toEqual([200, "confirmed"]);
  expect((await change("confirm", tag, once)).text).toBe(first.text);
  expect(outcomeOf(await change("confirm", "*", once))).toEqual([422, "idempotency_key_reused"]);
});
