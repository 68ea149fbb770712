// What the service records about an endpoint that it disables, and what the endpoint gets later.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { eventually } from "../../../../test/harness/program.ts";
import { messageOf, WebhookService } from "../../../../test/harness/webhook-service.ts";
import { deliveryDelays } from "../sending/backoff.ts";

/** A delay times this is longer than the delay with its jitter. */
const LATE_FACTOR = 1.21;

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

const untilDisabled = async (id: string) => {
  while ((await webhooks.getEndpoint(id)).state === "enabled") await webhooks.deliver();
};
/** The id of the event that added an animal. */
const eventOf = async (petId: number) => (await webhooks.call("GET", `/events?petId=${petId}`)).json[0].id;

test("a test that succeeds does not hide an event that was given up before", async () => {
  let status = 500;
  const statusOf = (type: string) => (type === "webhook_endpoint.test" ? 204 : status);
  const receiver = webhooks.receiver((one) => new Response(null, { status: statusOf(messageOf(one).type) }));
  const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
  const missed = await webhooks.addPet();
  await webhooks.deliver();
  for (const delay of deliveryDelays) await webhooks.after(LATE_FACTOR * delay);
  expect(await webhooks.service.store.rows("SELECT 1 FROM webhook_attempts")).toEqual([]);
  await webhooks.call("POST", `/webhook-endpoints/${id}/test`);
  await webhooks.deliver();
  await webhooks.addPet();
  status = 410;
  await untilDisabled(id);
  expect((await webhooks.getEndpoint(id)).missed).toEqual({ from: await eventOf(missed) });
});

test("a redelivery that waits for a retry is not among the missed events, and continues later", async () => {
  let status = 204;
  const receiver = webhooks.receiver(() => new Response(null, { status }));
  const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
  const accepted = await webhooks.addPet();
  await webhooks.deliver();
  status = 500;
  const event = await eventOf(accepted);
  await webhooks.call("POST", `/webhook-endpoints/${id}/redeliver`, { from: event, to: event });
  await webhooks.deliver();
  const missed = await webhooks.addPet();
  status = 410;
  await untilDisabled(id);
  expect((await webhooks.getEndpoint(id)).missed).toEqual({ from: await eventOf(missed) });
  status = 204;
  receiver.received.length = 0;
  await webhooks.call("PATCH", `/webhook-endpoints/${id}`, { paused: false });
  await webhooks.deliver();
  expect(receiver.received.map((one) => messageOf(one).subjectId)).toEqual([String(accepted)]);
});

test("what an endpoint missed is not sent if it was paused during a test, and then resumed", async () => {
  const receiver = webhooks.receiver(async (one) => {
    if (messageOf(one).type !== "webhook_endpoint.test") return new Response(null, { status: 410 });
    await webhooks.call("PATCH", `/webhook-endpoints/${id}`, { paused: true });
    return new Response(null, { status: 204 });
  });
  const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
  await webhooks.addPet();
  await untilDisabled(id);
  await webhooks.addPet();
  await webhooks.call("POST", `/webhook-endpoints/${id}/test`);
  await webhooks.deliver();
  expect((await webhooks.getEndpoint(id)).state).toBe("paused");
  receiver.received.length = 0;
  await webhooks.call("PATCH", `/webhook-endpoints/${id}`, { paused: false });
  await webhooks.deliver();
  expect(receiver.received).toEqual([]);
});
