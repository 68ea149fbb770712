// Many endpoints, many animals: what one of them does costs the others nothing.
import { afterEach, describe, expect, test } from "bun:test";
import { messageOf, WebhookService } from "../../../../test/harness/webhook-service.ts";
import { MINUTE_MS, SECOND_MS } from "../../../timing/clock.ts";
import { Slots } from "./slots.ts";

const started: WebhookService[] = [];
afterEach(async () => {
  for (const one of started.splice(0)) await one.stop();
});

async function start(network: Parameters<typeof WebhookService.start>[0] = {}): Promise<WebhookService> {
  const webhooks = await WebhookService.start(network);
  started.push(webhooks);
  return webhooks;
}

describe("deliveries in progress", () => {
  test("are at most 32 for an endpoint and 200 in total", () => {
    const slots = new Slots();
    const taken = Array.from({ length: 300 }, () => 0);
    for (let turn = 0; turn < 300; turn++) {
      for (const [index, count] of taken.entries()) if (slots.take(count)) taken[index] = count + 1;
    }
    expect(slots.taken).toBe(200);
    const alone = new Slots();
    let count = 0;
    while (alone.take(count)) count++;
    expect(count).toBe(32);
  });

  test.each([5, 50])("leave slots for other endpoints while %d hang", (hanging) => {
    const slots = new Slots();
    for (let index = 0; index < hanging; index++) {
      let count = 0;
      while (slots.take(count)) count++;
    }
    expect(slots.take(0)).toBe(true);
  });
});

test("of 50 endpoints, 5 that hang do not delay the others, and time out after 15 seconds", async () => {
  const clocks: { limit: number; expiry: AbortController }[] = [];
  const expire = (limit: number) => {
    const expiry = new AbortController();
    clocks.push({ limit, expiry });
    return expiry.signal;
  };
  const webhooks = await start({ expire });
  const hanging = webhooks.receiver(() => new Promise<never>(() => {}));
  const good = webhooks.receiver();
  const endpoints: string[] = [];
  for (let shop = 0; shop < 5; shop++) {
    await webhooks.addShop();
    const ids: string[] = [];
    for (let index = 0; index < 10; index++) {
      const { id } = await webhooks.endpoint(index === 0 ? hanging : good, { types: ["pet.created"] });
      ids.push(id);
    }
    endpoints.push(ids[0] as string);
    for (let count = 0; count < 20; count++) await webhooks.addPet();
  }
  while (good.received.length < 45 * 20) await webhooks.round();
  expect(good.received).toHaveLength(45 * 20);
  expect(hanging.received.length).toBeGreaterThanOrEqual(5);
  for (const { expiry } of clocks) expiry.abort();
  const last = endpoints.at(-1) as string;
  while ((await webhooks.getEndpoint(last)).lastFailure?.failure !== "timed_out") await webhooks.round();
  expect(new Set(clocks.map(({ limit }) => limit))).toEqual(new Set([15_000]));
});

test("while 1,000 animals wait for a retry, further events stay in the log", async () => {
  let isDown = true;
  const webhooks = await start();
  // Every other message succeeds, so that the endpoint does not wait before it is full.
  const receiver = webhooks.receiver(({ body }) => {
    const isOdd = Number(JSON.parse(body).data.subject.id) % 2 === 1;
    return new Response(null, { status: isDown && isOdd ? 500 : 200 });
  });
  const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
  const shop =
    "SELECT shop, last_event_id AS last FROM shops WHERE account_id = (SELECT account_id FROM webhook_endpoints) AND mode = 'test'";
  const [found] = (await webhooks.service.store.rows(shop)) as { shop: number; last: number }[];
  const [number, last] = [Number(found?.shop), Number(found?.last)];
  const events = Array.from({ length: 2_600 }, (_, index) => {
    const data = `'{"id":${index + 1},"name":"Rex","categoryId":1}'`;
    return `(${number}, ${last + 1 + index}, ${webhooks.service.clock.now()}, 'pet.created', ${index + 1}, 'system', ${data})`;
  });
  await webhooks.service.store.run(
    `INSERT INTO events (shop, id, at, type, pet_id, actor, data) VALUES ${events.join(", ")}`,
  );
  await webhooks.service.store.run(
    `UPDATE shops SET last_event_id = ${last + 2_600}, last_pet_id = 2600 WHERE shop = ${number}`,
  );
  await webhooks.deliver();
  const parked = async () => {
    const [row] = (await webhooks.service.store.rows("SELECT count(*) AS parked FROM webhook_parked")) as {
      parked: number | bigint;
    }[];
    return Number(row?.parked);
  };
  expect(await parked()).toBe(1_000);
  expect((await webhooks.getEndpoint(id)).retriesAt).toBeString();
  const before = new Set(receiver.received.map((one) => messageOf(one).eventId));
  expect(before.size).toBeLessThan(2_600);
  isDown = false;
  for (let turn = 0; turn < 4; turn++) await webhooks.after(5 * SECOND_MS + turn * 40 * MINUTE_MS);
  expect(await parked()).toBe(0);
  expect(new Set(receiver.received.map((one) => messageOf(one).eventId)).size).toBe(2_600);
});
