// What the service records about an endpoint that it disables.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { eventually } from "../../../../test/harness/program.ts";
import { WebhookService } from "../../../../test/harness/webhook-service.ts";

let webhooks: WebhookService;
beforeAll(async () => {
  webhooks = await WebhookService.start();
});
afterAll(() => webhooks.stop());
beforeEach(() => webhooks.newShop());

test("the event shows the endpoint as it was changed during the delivery that disabled it", async () => {
  const receiver = webhooks.receiver(async () => {
    await webhooks.call("PATCH", `/webhook-endpoints/${id}`, { description: "new" });
    return new Response(null, { status: 410 });
  });
  const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"], description: "old" });
  await webhooks.addPet();
  await webhooks.round(); // only one: the next would read the change
  await eventually(async () => (await webhooks.getEndpoint(id)).state === "disabled");
  const [{ data, previous }] = (await webhooks.call("GET", "/events?type=webhook_endpoint.disabled")).json;
  const { description, state } = await webhooks.getEndpoint(id);
  expect([description, state]).toEqual(["new", "disabled"]);
  expect(data).toMatchObject({ id, description, state });
  expect(previous).toEqual({ state: "enabled" });
});
