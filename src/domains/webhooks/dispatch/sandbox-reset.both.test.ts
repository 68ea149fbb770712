// A sandbox is reset while a message is on its way: what comes of that message is written nowhere.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { untilMetric } from "../../../../test/harness/metrics.ts";
import { messageOf, WebhookService } from "../../../../test/harness/webhook-service.ts";

let webhooks: WebhookService;
beforeAll(async () => {
  webhooks = await WebhookService.start();
});
afterAll(() => webhooks.stop());

const rows = (table: string, endpoint: string) =>
  webhooks.service.store.rows(
    `SELECT * FROM ${table} WHERE ${table === "webhook_endpoints" ? "id" : "endpoint_id"} = '${endpoint}'`,
  );

test.each([200, 500])(
  "the response %d to a message from before a reset does not change the new data",
  async (status) => {
    await webhooks.newShop();
    const held: ((response: Response) => void)[] = [];
    const receiver = webhooks.receiver(() => new Promise<Response>((resolve) => held.push(resolve)));
    const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
    await webhooks.addPet("Rex");
    while (held.length === 0) await webhooks.round();
    const saved = await rows("webhook_endpoints", id);
    expect((await webhooks.call("POST", "/sandbox/reset", { animals: "none" })).status).toBe(200);

    held.shift()?.(new Response(null, { status }));
    await untilMetric(webhooks.service.app.base, "petstore_webhooks_in_progress", 0);
    // With SQLite, a save that has started ends before this change.
    await webhooks.addPet("Ida");
    expect(await rows("webhook_endpoints", id)).toEqual(saved);
    expect(await rows("webhook_deliveries", id)).toEqual([]);
    expect(await rows("webhook_attempts", id)).toEqual([]);

    while (held.length === 0) await webhooks.round();
    held.shift()?.(new Response(null, { status: 200 }));
    await webhooks.deliver();
    expect(receiver.received.map((one) => [messageOf(one).type, JSON.parse(one.body).data.data.name])).toEqual([
      ["pet.created", "Rex"],
      ["pet.created", "Ida"],
    ]);
    const deliveries = await webhooks.deliveries(id);
    expect(deliveries).toMatchObject([{ outcome: "succeeded", attempt: 1 }]);
    expect(await webhooks.getEndpoint(id)).not.toContainKey("lastFailure");
  },
);
