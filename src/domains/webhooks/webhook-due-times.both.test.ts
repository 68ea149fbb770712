// What a fast-forward of the sandbox brings nearer at its webhook endpoints.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { messageOf, WebhookService } from "../../../test/harness/webhook-service.ts";
import type { Receiver } from "../../../test/harness/webhooks.ts";
import { DAY_MS, HOUR_MS } from "../../timing/clock.ts";

let webhooks: WebhookService;
let receiver: Receiver;
let isDown: boolean;
beforeAll(async () => {
  webhooks = await WebhookService.start();
});
afterAll(() => webhooks.stop());
beforeEach(async () => {
  await webhooks.newShop();
  isDown = true;
  receiver = webhooks.receiver(() => new Response(null, { status: isDown ? 500 : 200 }));
});

async function fastForward(milliseconds: number): Promise<void> {
  const { status } = await webhooks.call("POST", "/sandbox/fast-forward", { seconds: milliseconds / 1_000 });
  expect(status).toBe(200);
  await webhooks.deliver();
}
/** When the first of each kind is due, in milliseconds from now. Each call opens a limit window, which is left out. */
async function waiting(): Promise<Record<string, number>> {
  const { json } = await webhooks.call("GET", "/sandbox");
  const now = webhooks.service.clock.now();
  const times: { kind: string; next: string }[] = json.waiting;
  return Object.fromEntries(times.map(({ kind, next }) => [kind, Date.parse(next) - now]));
}

test("the five days after which a failing endpoint is disabled", async () => {
  const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
  await webhooks.addPet();
  await webhooks.deliver();
  expect(await waiting()).toMatchObject({ webhook_attempt: expect.any(Number), endpoint_disabling: 5 * DAY_MS });
  await fastForward(4 * DAY_MS);
  expect(receiver.received).toHaveLength(2);
  expect((await waiting())["endpoint_disabling"]).toBe(DAY_MS);
  await fastForward(DAY_MS);
  while ((await webhooks.getEndpoint(id)).state === "enabled") await webhooks.round();
  expect(receiver.received).toHaveLength(3);
  expect(await waiting()).toEqual({});
});

test("the next message of an endpoint that waits", async () => {
  const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
  for (let count = 0; count < 10; count++) await webhooks.addPet();
  await webhooks.deliver();
  for (const delay of [5_000, 300_000, 1_800_000]) await webhooks.after(delay * 1.2);
  const { retriesAt } = await webhooks.getEndpoint(id);
  expect(Date.parse(retriesAt) - webhooks.service.clock.now()).toBe(2 * HOUR_MS);
  expect((await waiting())["webhook_attempt"]).toBe(2 * HOUR_MS);
  isDown = false;
  receiver.received.length = 0;
  await fastForward(2 * HOUR_MS - 1_000);
  expect(receiver.received).toEqual([]);
  await fastForward(1_000);
  expect(new Set(receiver.received.map((one) => messageOf(one).eventId)).size).toBe(10);
});

test("the end of a replaced secret", async () => {
  isDown = false;
  const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
  await webhooks.call("POST", `/webhook-endpoints/${id}/rotate-secret`);
  const signatures = async () => {
    await webhooks.addPet();
    await webhooks.deliver();
    return receiver.received.at(-1)?.headers.get("webhook-signature")?.split(" ").length;
  };
  expect(await waiting()).toEqual({ webhook_secret: DAY_MS });
  await fastForward(DAY_MS - 1_000);
  expect([await signatures(), await waiting()]).toEqual([4, { webhook_secret: 1_000 }]);
  await fastForward(1_000);
  expect([await signatures(), await waiting()]).toEqual([2, {}]);
});

test("a delivery in progress is sent once, and its failure saved", async () => {
  const held = Promise.withResolvers<void>();
  const slow = webhooks.receiver(() => held.promise.then(() => new Response(null, { status: 500 })));
  const { id } = await webhooks.endpoint(slow, { types: ["pet.created"] });
  await webhooks.addPet();
  while (slow.received.length === 0) await webhooks.round();
  expect((await webhooks.call("POST", "/sandbox/fast-forward", { seconds: 3_600 })).status).toBe(200);
  await webhooks.round();
  held.resolve();
  await webhooks.deliver();
  expect([slow.received.length, (await webhooks.deliveries(id)).length]).toEqual([1, 1]);
});
