// Nothing is sent to an endpoint whose name resolves to a private address, even if it did not when it was created.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { WebhookService } from "../../../../test/harness/webhook-service.ts";

const found = new Map<string, string[]>();
const resolve = (name: string) => Promise.resolve(found.get(name) ?? []);
let webhooks: WebhookService;
beforeAll(async () => {
  webhooks = await WebhookService.start({ resolve }, { settings: { PETSTORE_ENV: "staging" } });
});
afterAll(() => webhooks.stop());

test.each([
  ["10.0.0.7", "address_not_global"],
  ["127.0.0.1", "address_not_global"],
  ["::ffff:7f00:1", "address_not_global"],
  ["64:ff9b::a00:7", "address_not_global"],
  [undefined, "name_not_resolved"],
])("a name that leads to %s: the delivery fails with %s", async (address, failure) => {
  await webhooks.newShop();
  const { json } = await webhooks.call("POST", "/webhook-endpoints", { url: "https://hook.test/" });
  found.set("hook.test", address === undefined ? [] : [address]);
  await webhooks.addPet();
  await webhooks.deliver();
  const [delivery] = await webhooks.deliveries(json.id);
  expect(delivery).toMatchObject({ outcome: "failed", failure });
  expect(delivery.message).toBeString();
  expect(delivery.status).toBeUndefined();
});
