// Many endpoints, many animals: what one of them does costs the others nothing.
import { afterEach, describe, expect, test } from "bun:test";
import { messageOf, WebhookService } from "../../../../test/harness/webhook-service.ts";
import { SECOND_MS } from "../../../timing/clock.ts";
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

/** Takes all that an endpoint gets, and returns how many these are. */
const fill = (slots: Slots, account: string) => {
  let count = 0;
  while (slots.take(account, count)) count++;
  return count;
};

describe("deliveries in progress", () => {
  test("are at most 32 for an endpoint, 64 for an account and 200 in total", () => {
    const slots = new Slots();
    expect(Array.from({ length: 20 }, () => fill(slots, "one")).slice(0, 3)).toEqual([32, 16, 8]);
    expect([slots.taken, slots.take("one", 0)]).toEqual([64, false]);
    for (let account = 0; account < 300; account++) fill(slots, String(account));
    expect(slots.taken).toBe(200);
    for (let count = 0; count < 64; count++) slots.free("one");
    expect([slots.taken, slots.take("one", 0)]).toEqual([136, true]);
  });

  test.each([5, 50])("leave slots for other accounts while all 40 endpoints of %d accounts hang", (hanging) => {
    const slots = new Slots();
    for (let index = 0; index < hanging * 40; index++) fill(slots, String(index % hanging));
    expect([slots.isFree("other", 0), slots.take("other", 0)]).toEqual([true, true]);
    expect([slots.isFree("0", 0), slots.take("0", 0)]).toEqual([false, false]);
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

test("while 1,000 events wait for a retry, further ones stay in the log", async () => {
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
    `INSERT INTO events (shop, id, at, type, under, actor, data) VALUES ${events.join(", ")}`,
  );
  await webhooks.service.store.run(
    `UPDATE shops SET last_event_id = ${last + 2_600}, last_pet_id = 2600 WHERE shop = ${number}`,
  );
  await webhooks.deliver();
  const waiting = async () => (await webhooks.service.store.rows("SELECT event_id FROM webhook_attempts")).length;
  expect(await waiting()).toBe(1_000);
  expect((await webhooks.getEndpoint(id)).state).toBe("enabled");
  const before = new Set(receiver.received.map((one) => messageOf(one).eventId));
  expect(before.size).toBeLessThan(2_600);
  isDown = false;
  await webhooks.after(10 * SECOND_MS);
  expect(await waiting()).toBe(0);
  expect(new Set(receiver.received.map((one) => messageOf(one).eventId)).size).toBe(2_600);
});
