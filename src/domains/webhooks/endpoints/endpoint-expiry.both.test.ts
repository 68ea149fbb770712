// An endpoint does not outlive the key that decided where its messages go, unless another key confirms it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { messageOf, WebhookService } from "../../../../test/harness/webhook-service.ts";

const LIFETIME = 3_600;

let webhooks: WebhookService;
/** A key of the shop that expires after `LIFETIME`, and the key that does not. */
let short: string;
let lasting: string;
beforeAll(async () => {
  webhooks = await WebhookService.start();
});
afterAll(() => webhooks.stop());
beforeEach(async () => {
  await webhooks.newShop();
  lasting = webhooks.key;
  short = await newKey({ expiresIn: LIFETIME });
});

async function newKey(more: object): Promise<string> {
  const { json } = await webhooks.call("POST", "/keys", { name: "k", scopes: ["read", "write", "admin"], ...more });
  return json.key;
}
/** An endpoint that a key has made. */
async function made(by: string, receiver = webhooks.receiver()) {
  webhooks.key = by;
  const endpoint = await webhooks.endpoint(receiver, { types: ["pet.created"] });
  webhooks.key = lasting;
  return { endpoint, receiver };
}
const patch = (id: string, body: object, key = lasting) =>
  webhooks.service.call("PATCH", `/webhook-endpoints/${id}`, { key, body });
const end = () => new Date(webhooks.service.clock.now() + LIFETIME * 1_000).toISOString();
const eventsOf = async (type: string) => (await webhooks.call("GET", `/events?type=webhook_endpoint.${type}`)).json;

test("an endpoint of a key that does not expire has no expiry", async () => {
  const { endpoint } = await made(lasting);
  expect(endpoint).not.toHaveProperty("expiresAt");
  await webhooks.after(10 * LIFETIME * 1_000);
  expect((await webhooks.getEndpoint(endpoint.id)).state).toBe("enabled");
});

describe("an endpoint of a key that expires", () => {
  test.each(["enabled", "paused"])("is disabled with the key while it is %s, with an event", async (state) => {
    const expiresAt = end();
    const { endpoint, receiver } = await made(short);
    expect(endpoint.expiresAt).toBe(expiresAt);
    expect((await eventsOf("created"))[0].data.expiresAt).toBe(expiresAt);
    if (state === "paused") await patch(endpoint.id, { paused: true });
    await webhooks.after(LIFETIME * 1_000 - 1);
    expect((await webhooks.getEndpoint(endpoint.id)).state).toBe(state);
    await webhooks.after(1);
    const missed = await webhooks.addPet();
    await webhooks.deliver();
    expect(receiver.received).toEqual([]);
    expect(await webhooks.getEndpoint(endpoint.id)).toMatchObject({ state: "disabled", expiresAt });
    const [{ actor, data, previous }, ...others] = await eventsOf("disabled");
    expect(others).toEqual([]);
    expect([actor, data.state, data.expiresAt, previous]).toEqual([
      { kind: "system" },
      "disabled",
      expiresAt,
      { state },
    ]);
    // It cannot be resumed by mistake. Once confirmed, what it missed can be sent.
    const refused = await patch(endpoint.id, { paused: false });
    expect([refused.status, refused.json.details[0].path]).toEqual([400, "/body/paused"]);
    const { missed: from } = await webhooks.getEndpoint(endpoint.id);
    const confirmed = await patch(endpoint.id, { paused: false, expiresAt: null });
    expect([confirmed.status, confirmed.json.state, confirmed.json.expiresAt]).toEqual([200, "enabled", undefined]);
    await webhooks.call("POST", `/webhook-endpoints/${endpoint.id}/redeliver`, from);
    await webhooks.deliver();
    expect(receiver.received.map((one) => messageOf(one).subjectId)).toEqual([String(missed)]);
  });

  test("outlives it if another key confirms it, which a key that expires cannot", async () => {
    const { endpoint } = await made(short);
    const later = await newKey({ expiresIn: 2 * LIFETIME });
    for (const key of [short, later]) {
      const { status, json } = await patch(endpoint.id, { expiresAt: null }, key);
      expect([status, json.code]).toEqual([403, "lifetime_exceeds_key"]);
    }
    expect((await patch(endpoint.id, { expiresAt: null })).json).not.toHaveProperty("expiresAt");
    const [{ data, previous }] = await eventsOf("updated");
    expect([data.expiresAt, previous]).toEqual([undefined, { expiresAt: endpoint.expiresAt }]);
    await webhooks.after(LIFETIME * 1_000);
    expect((await webhooks.getEndpoint(endpoint.id)).state).toBe("enabled");
  });
});

test("an endpoint gets the expiry of the key that changes its URL, and of no other change", async () => {
  const { endpoint } = await made(lasting);
  expect((await patch(endpoint.id, { description: "x", paused: true }, short)).json).not.toHaveProperty("expiresAt");
  const moved = await patch(endpoint.id, { url: `${endpoint.url}/2`, paused: false }, short);
  expect(moved.json.expiresAt).toBe(end());
  expect((await patch(endpoint.id, { url: endpoint.url })).json).not.toHaveProperty("expiresAt");
});
