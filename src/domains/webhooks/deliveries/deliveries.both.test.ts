// How long deliveries are stored.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { WebhookService } from "../../../../test/harness/webhook-service.ts";
import { DAY_MS, MINUTE_MS } from "../../../timing/clock.ts";

let webhooks: WebhookService;
let endpoint: string;
beforeAll(async () => {
  webhooks = await WebhookService.start();
});
beforeEach(async () => {
  await webhooks.newShop();
  endpoint = (await webhooks.endpoint(webhooks.receiver())).id;
  await webhooks.addPet("Rex");
  await webhooks.deliver();
});
afterAll(() => webhooks.stop());

/** The ids of the stored deliveries, the newest first. */
const stored = async () => (await webhooks.deliveries(endpoint)).map(({ id }) => id);

test("a delivery is deleted after seven days", async () => {
  await webhooks.after(7 * DAY_MS - MINUTE_MS);
  expect(await stored()).toEqual([1]);
  await webhooks.after(MINUTE_MS);
  expect(await stored()).toEqual([]);
});

test("the last 1,000 deliveries of an endpoint are stored", async () => {
  for (const [last, kept] of [
    [999, [1000, 1]],
    [1000, [1001, 1000]],
  ] as const) {
    await webhooks.service.store.run(
      `UPDATE webhook_endpoints SET last_delivery_id = ${last} WHERE id = '${endpoint}'`,
    );
    await webhooks.addPet("Ida");
    await webhooks.deliver();
    expect(await stored()).toEqual([...kept]);
  }
});
