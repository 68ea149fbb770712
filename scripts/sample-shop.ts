import { NOON } from "../test/harness/manual-clock.ts";
import { WebhookService } from "../test/harness/webhook-service.ts";

const [MINUTE, HOUR] = [60_000, 3_600_000];
/** How long ago the first request was sent, and the first animal was added, in hours. */
const [USED_HOURS_AGO, OPENED_HOURS_AGO] = [30, 3];

const categories = ["Dogs", "Cats", "Birds", "Fish"];
const animals: readonly (readonly [name: string, categoryId: number, status?: string])[] = [
  ["Rex", 1, "available"],
  ["Bella", 1, "pending"],
  ["Tom", 2, "available"],
  ["Luna", 2, "sold"],
  ["Kiwi", 3, "available"],
  ["Nemo", 4],
  ["Ida", 1, "available"],
  ["Milo", 2, "available"],
  ["Coco", 3, "sold"],
  ["Otto", 1, "available"],
  ["Frida", 2, "available"],
  ["Bubbles", 4, "available"],
];

const orders: readonly (readonly [petId: number, reference: string])[] = [
  [7, "Till 1 / 4717"],
  [1, "Till 2 / 4718"],
  [5, "Till 1 / 4719"],
  [10, "Till 3 / 4720"],
];

interface SampleShop {
  readonly webhooks: WebhookService;
  readonly key: string;
  /** An endpoint that fails. */
  readonly endpointId: string;
}

/** A shop after a morning of sales, and programs that use it, one of which fails. */
export async function sampleShop(): Promise<SampleShop> {
  const webhooks = await WebhookService.start();
  const { clock, app } = webhooks.service;
  clock.advance(-USED_HOURS_AGO * HOUR);
  const account = await app.accounts.createAccount("Corner pet shop", "business", undefined, clock.now());
  const { key } = await app.keys.issueKey(account.id, "test", ["read", "write", "admin"], clock.now());
  webhooks.key = key;
  const send = (method: string, path: string, body?: unknown) => webhooks.call(method, path, body);

  await useKeys(webhooks);
  clock.advance(NOON - OPENED_HOURS_AGO * HOUR - clock.now());
  for (const name of categories) await send("POST", "/categories", { name });
  const till = webhooks.receiver();
  const stock = webhooks.receiver(() => new Response("upstream connect error: connection refused", { status: 502 }));
  const { id: tillId } = await webhooks.endpoint(till, {
    description: "Receipts of the tills",
    types: ["order.placed", "order.confirmed"],
  });
  const { id: stockId } = await webhooks.endpoint(stock, {
    description: "Stock list of the web shop",
    types: ["pet.created", "pet.updated"],
  });
  for (const [name, categoryId, status] of animals) {
    clock.advance(MINUTE);
    await send("POST", "/pets", { name, categoryId, ...(status && { status }) });
  }
  clock.advance(NOON - (animals.length + 10) * MINUTE - clock.now());
  await webhooks.deliver();
  clock.advance(animals.length * MINUTE);
  for (const [petId, reference] of orders) {
    await send("POST", "/store/orders", { petId, reference });
    clock.advance(1.5 * MINUTE);
    await webhooks.deliver();
  }
  await send("POST", "/store/orders/1/confirm", {});
  await send("PATCH", "/pets/8", { status: "sold" });
  await send("POST", "/pets", { name: "", categoryId: 1 });
  await webhooks.deliver();
  await webhooks.service.store.run(`
    UPDATE webhook_endpoints SET url = 'https://tills.example/petstore' WHERE id = '${tillId}';
    UPDATE webhook_endpoints SET url = 'https://web-shop.example/hooks/stock' WHERE id = '${stockId}';`);
  clock.advance(NOON - clock.now());
  return { webhooks, key, endpointId: stockId };
}

/** 27 hours in which two keys are used; one calls a deprecated operation. */
async function useKeys(webhooks: WebhookService): Promise<void> {
  const admin = webhooks.key;
  const make = async (name: string, more: object) =>
    (await webhooks.call("POST", "/keys", { name, ...more })).json.key as string;
  const till = await make("till 1", { scopes: ["read", "write"] });
  const web = await make("stock list of the web shop", { scopes: ["read"], expiresIn: 90 * 86_400 });
  for (let hour = 0; hour < USED_HOURS_AGO - OPENED_HOURS_AGO; hour++) {
    const busy = 6 + Math.round(5 * Math.sin(hour / 3.5));
    webhooks.key = till;
    for (let count = 0; count < busy; count++) await webhooks.call("GET", "/pets?limit=5");
    webhooks.key = web;
    for (let count = 0; count < busy; count += 2) await webhooks.call("GET", "/pets/1");
    webhooks.service.clock.advance(HOUR);
  }
  webhooks.key = admin;
}
