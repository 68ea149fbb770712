import { NOON } from "../test/harness/manual-clock.ts";
import { WebhookService } from "../test/harness/webhook-service.ts";

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
/** How long ago keys were used first, and the first animal was added, in hours. */
const [USED_HOURS_AGO, OPENED_HOURS_AGO] = [30, 3];
/** When animals were sold on each day before: before the first request. */
const SOLD_HOURS_BEFORE_NOON = 7;

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

const orders: readonly (readonly [animal: string, reference: string])[] = [
  ["Ida", "Till 1 / 4717"],
  ["Rex", "Till 2 / 4718"],
  ["Kiwi", "Till 1 / 4719"],
  ["Otto", "Till 3 / 4720"],
];

/** How many animals were sold on each of the last days, of which the last is today; their names and prices by category. */
const soldByDay = [2, 4, 1, 3, 5, 3, 1, 4, 5, 2, 3, 6, 4, 2];
const soldAnimals: readonly (readonly [name: string, cents: number])[] = [
  ["Balu", 48_000],
  ["Minka", 12_900],
  ["Hansi", 3_900],
  ["Goldie", 1_200],
];

interface SampleShop {
  readonly webhooks: WebhookService;
  readonly key: string;
  /** An endpoint that fails. */
  readonly endpointId: string;
  /** A reserved animal. */
  readonly petId: string;
}

/** A shop after a morning of sales, and programs that use it, one of which fails. */
export async function sampleShop(): Promise<SampleShop> {
  const webhooks = await WebhookService.start();
  const { clock, app } = webhooks.service;
  clock.advance(-soldByDay.length * DAY - SOLD_HOURS_BEFORE_NOON * HOUR);
  const account = await app.accounts.createAccount("Corner pet shop", "business", undefined, clock.now());
  const { key } = await app.keys.issueKey(account.id, "test", ["read", "write", "admin"], clock.now());
  webhooks.key = key;
  const send = (method: string, path: string, body?: unknown) => webhooks.call(method, path, body);

  for (const name of categories) await send("POST", "/categories", { name });
  const webShop = (await send("POST", "/keys", { name: "Web shop", scopes: ["read", "write"] })).json.key as string;
  for (const sold of soldByDay.slice(0, -1)) {
    clock.advance(DAY);
    await sell(webhooks, webShop, sold);
  }
  clock.advance(NOON - USED_HOURS_AGO * HOUR - clock.now());
  await useKeys(webhooks);
  clock.advance(NOON - OPENED_HOURS_AGO * HOUR - clock.now());
  await sell(webhooks, webShop, soldByDay.at(-1) as number);
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
  const ids = new Map<string, number>();
  for (const [name, categoryId, status] of animals) {
    clock.advance(MINUTE);
    const { json } = await send("POST", "/pets", { name, categoryId, ...(status && { status }) });
    ids.set(name, json.id);
  }
  clock.advance(NOON - (animals.length + 10) * MINUTE - clock.now());
  await webhooks.deliver();
  clock.advance(animals.length * MINUTE);
  const placed: number[] = [];
  for (const [name, reference] of orders) {
    placed.push((await send("POST", "/store/orders", { petId: ids.get(name), reference })).json.id);
    clock.advance(1.5 * MINUTE);
    await webhooks.deliver();
  }
  await send("POST", `/store/orders/${placed[0]}/confirm`, { price: { amount: 52_000, currency: "EUR" } });
  await send("PATCH", `/pets/${ids.get("Milo")}`, { status: "sold" });
  await send("POST", "/pets", { name: "", categoryId: 1 });
  await webhooks.deliver();
  await webhooks.service.store.run(`
    UPDATE webhook_endpoints SET url = 'https://tills.example/petstore' WHERE id = '${tillId}';
    UPDATE webhook_endpoints SET url = 'https://web-shop.example/hooks/stock' WHERE id = '${stockId}';`);
  clock.advance(NOON - clock.now());
  return { webhooks, key, endpointId: stockId, petId: String(ids.get("Rex")) };
}

/** Sells animals, most of them with the key of the web shop. */
async function sell(webhooks: WebhookService, webShop: string, count: number): Promise<void> {
  const { key } = webhooks;
  for (let done = 0; done < count; done++) {
    const index = (done + count) % soldAnimals.length;
    const [name, amount] = soldAnimals[index] as (typeof soldAnimals)[number];
    const { json } = await webhooks.call("POST", "/pets", { name, categoryId: index + 1, status: "available" });
    const sale = { petId: json.id, confirm: true, price: { amount, currency: "EUR" } };
    webhooks.key = done % 3 === 0 ? key : webShop;
    await webhooks.call("POST", "/store/orders", sale);
    webhooks.key = key;
  }
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
