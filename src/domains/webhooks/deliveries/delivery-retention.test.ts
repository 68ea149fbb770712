// Deliveries are stored for seven days, by the clock of their shop.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { WebhookService } from "../../../../test/harness/webhook-service.ts";
import { DAY_MS, DAY_SECONDS, MINUTE_MS } from "../../../timing/clock.ts";

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
const fastForward = async (days: number) => {
  const { status } = await webhooks.call("POST", "/sandbox/fast-forward", { seconds: days * DAY_SECONDS });
  expect(status).toBe(200);
  await webhooks.after(MINUTE_MS); // of real time, after which it is noticed
};

test("a delivery is deleted after seven days", async () => {
  await webhooks.after(7 * DAY_MS - MINUTE_MS);
  expect(await stored()).toEqual([1]);
  await webhooks.after(MINUTE_MS);
  expect(await stored()).toEqual([]);
});

test("a delivery is deleted when the sandbox is seven days older", async () => {
  await fastForward(6);
  expect(await stored()).toEqual([1]);
  await fastForward(1);
  expect(await stored()).toEqual([]);
});

test("a delivery after a fast-forward is stored for seven days too, and no longer", async () => {
  await fastForward(30);
  await webhooks.addPet("Ida");
  await webhooks.deliver();
  expect(await stored()).toEqual([2]);
  await webhooks.after(7 * DAY_MS - MINUTE_MS);
  expect(await stored()).toEqual([2]);
  await webhooks.after(MINUTE_MS);
  expect(await stored()).toEqual([]);
});
