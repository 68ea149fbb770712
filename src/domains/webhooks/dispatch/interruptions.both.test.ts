// What ends the requests to a receiver that does not respond.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { metric } from "../../../../test/harness/metrics.ts";
import { messageOf, WebhookService } from "../../../../test/harness/webhook-service.ts";
import type { Receiver } from "../../../../test/harness/webhooks.ts";

let webhooks: WebhookService;
let hanging: Receiver;
let id: string;
let isHanging: boolean;
beforeAll(async () => {
  webhooks = await WebhookService.start();
});
afterAll(() => webhooks.stop());
beforeEach(async () => {
  await webhooks.newShop();
  isHanging = true;
  hanging = webhooks.receiver(() => (isHanging ? new Promise<never>(() => {}) : new Response()));
  ({ id } = await webhooks.endpoint(hanging, { types: ["pet.created"] }));
  for (let count = 0; count < 3; count++) await webhooks.addPet();
  while (hanging.received.length < 3) await webhooks.round();
});

const inProgress = () => metric(webhooks.service.app.base, "petstore_webhooks_in_progress");
/** Runs rounds until no request is in progress, although no receiver has responded and no time limit has ended. */
async function untilAborted(): Promise<void> {
  await webhooks.round();
  while ((await inProgress()) > 0) await webhooks.round();
}
const failed = () => new Response(null, { status: 500 });
const patch = (body: object) => webhooks.call("PATCH", `/webhook-endpoints/${id}`, body);
const accounts = () => webhooks.service.app.accounts;

test("deleting an endpoint aborts them, again and again", async () => {
  for (let turn = 0; turn < 5; turn++) {
    expect((await webhooks.call("DELETE", `/webhook-endpoints/${id}`)).status).toBe(204);
    await untilAborted();
    ({ id } = await webhooks.endpoint(hanging, { types: ["pet.created"] }));
    const known = hanging.received.length;
    for (let count = 0; count < 40; count++) await webhooks.addPet();
    while (hanging.received.length < known + 32) await webhooks.round();
    expect(await inProgress()).toBe(32);
  }
  await webhooks.call("DELETE", `/webhook-endpoints/${id}`);
  await untilAborted();
});

test("deleting the account aborts them", async () => {
  await accounts().delete(webhooks.accountId, webhooks.service.clock.now());
  await untilAborted();
});

test.each(["a pause", "a suspension of the account"])("%s aborts them, and later they are sent again", async (what) => {
  if (what === "a pause") await patch({ paused: true });
  else await accounts().suspend(webhooks.accountId, webhooks.service.clock.now());
  await untilAborted();
  isHanging = false;
  if (what === "a pause") await patch({ paused: false });
  else await accounts().resume(webhooks.accountId);
  await webhooks.deliver();
  const events = hanging.received.map((one) => messageOf(one).eventId);
  expect([events.length, new Set(events).size]).toEqual([6, 3]);
  const deliveries = await webhooks.deliveries(id);
  expect(deliveries.map(({ attempt, outcome }) => `${attempt} ${outcome}`)).toEqual(Array(3).fill("1 succeeded"));
});

test("another URL aborts them, and gets their messages", async () => {
  const other = webhooks.receiver();
  await patch({ url: `http://127.0.0.1:${other.port}/` });
  await untilAborted();
  await webhooks.deliver();
  expect(other.received).toHaveLength(3);
});

test("a response that disables the endpoint aborts them", async () => {
  let isGone = false;
  const receiver = webhooks.receiver(() =>
    isGone ? new Response(null, { status: 410 }) : new Promise<never>(() => {}),
  );
  const { id: second } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
  await webhooks.call("DELETE", `/webhook-endpoints/${id}`);
  await webhooks.addPet();
  while (receiver.received.length < 1) await webhooks.round();
  isGone = true;
  await webhooks.addPet();
  await untilAborted();
  const { state, missed } = await webhooks.getEndpoint(second);
  const events = receiver.received.map((one) => messageOf(one).eventId);
  expect([state, missed]).toEqual(["disabled", { from: Math.min(...events) }]);
});

test("while an endpoint of an account hangs, others of it get messages", async () => {
  const good = webhooks.receiver();
  for (let count = 0; count < 5; count++) await webhooks.endpoint(hanging, { types: ["pet.created"] });
  await webhooks.endpoint(good, { types: ["pet.created"] });
  for (let count = 0; count < 40; count++) await webhooks.addPet();
  while (good.received.length < 40) await webhooks.round();
  expect(await inProgress()).toBeLessThanOrEqual(64);
});

test("the end of the process aborts a test, which the next process sends", async () => {
  await webhooks.call("DELETE", `/webhook-endpoints/${id}`);
  const receiver = webhooks.receiver(() => (isHanging ? new Promise<never>(() => {}) : new Response()));
  const { id: tested } = await webhooks.endpoint(receiver);
  await webhooks.call("POST", `/webhook-endpoints/${tested}/test`);
  while (receiver.received.length < 1) await webhooks.round();
  await webhooks.tasks.finish();
  isHanging = false;
  await webhooks.restart();
  await webhooks.deliver();
  expect(receiver.received.map((one) => messageOf(one).type)).toEqual(Array(2).fill("webhook_endpoint.test"));
  expect((await webhooks.deliveries(tested)).map(({ outcome }) => outcome)).toEqual(["succeeded"]);
});

test("a redelivery that is asked for while the event is sent follows if that fails", async () => {
  const waiting: ((response: Response) => void)[] = [];
  const receiver = webhooks.receiver(() =>
    receiver.received.length === 2 ? new Promise<Response>((resolve) => waiting.push(resolve)) : failed(),
  );
  await webhooks.call("DELETE", `/webhook-endpoints/${id}`);
  const { id: second } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
  await webhooks.addPet();
  await webhooks.deliver();
  webhooks.service.clock.advance(6_000);
  while (waiting.length < 1) await webhooks.round();
  const [{ id: deliveryId }] = await webhooks.deliveries(second);
  expect((await webhooks.call("POST", `/webhook-endpoints/${second}/redeliver`, { deliveryId })).status).toBe(200);
  waiting[0]?.(failed());
  await webhooks.deliver();
  const deliveries = (await webhooks.deliveries(second)).map(({ kind, attempt }) => `${kind} ${attempt}`);
  expect(deliveries).toEqual(["redelivery 1", "event 2", "event 1"]);
});
