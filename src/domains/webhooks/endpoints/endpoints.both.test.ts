// Webhook endpoints as their owners manage them. What is sent to them is tested in other files.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Call, TestService } from "../../../../test/harness/service.ts";
import { lockAwaited, onPostgres } from "../../../../test/harness/test-store.ts";
import { unlimitedQuota } from "../../../../test/harness/unlimited.ts";
import { secretKey } from "../../../../test/harness/webhook-service.ts";
import { scopes } from "../../../contract/caller.ts";

const settings = { PETSTORE_SECRET_KEY: secretKey, PETSTORE_ENV: "staging" };
const url = "https://example.org/hook";

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await TestService.start({ settings });
});
afterAll(() => service.stop());

/** The key of an account that has no endpoint. */
const newKey = async (of = service) => (await of.newAccountWithKey("enterprise", unlimitedQuota, [...scopes])).key;
const call = (method: string, path: string, more: Call = {}) => service.call(method, path, { key, ...more });
const create = (body: object) => call("POST", "/webhook-endpoints", { body });
const updates = () => call("GET", "/events?type=webhook_endpoint.updated&limit=100");

test("an empty list of types is refused with the least number of items", async () => {
  key = await newKey();
  const { status, json } = await create({ url, types: [] });
  expect([status, json.details]).toEqual([
    400,
    [{ path: "/body/types", message: "must have at least 1 item; it has 0" }],
  ]);
});

describe("an endpoint", () => {
  beforeAll(async () => {
    key = await newKey();
  });

  test("gets all types of events by default, and shows its secret once", async () => {
    const { status, json, headers } = await create({ url });
    expect(status).toBe(201);
    expect(json).toEqual({
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      id: expect.stringMatching(/^we_[0-9a-f]{24}$/),
      url,
      types: ["*"],
      description: "",
      state: "enabled",
      publicKey: expect.stringMatching(/^whpk_[A-Za-z0-9+/]{43}=$/),
      createdAt: "2026-11-21T12:00:00.000Z",
    });
    const { secret, ...shown } = json;
    expect(headers.get("location")).toBe(`${service.app.base}/webhook-endpoints/${json.id}`);
    expect((await call("GET", `/webhook-endpoints/${json.id}`)).json).toEqual(shown);
    expect((await call("GET", "/webhook-endpoints")).json).toEqual([shown]);
    expect(await service.store.contents()).not.toContain(secret.slice(6));
  });

  test("can be changed, paused, resumed and deleted", async () => {
    const { id } = (await create({ url, types: ["pet.created"], description: "Till" })).json;
    const change = async (body: object) => (await call("PATCH", `/webhook-endpoints/${id}`, { body })).json;
    expect(await change({ paused: true })).toMatchObject({
      types: ["pet.created"],
      description: "Till",
      state: "paused",
    });
    expect(await change({ url: `${url}/2`, types: ["*"] })).toMatchObject({
      url: `${url}/2`,
      types: ["*"],
      state: "paused",
    });
    expect(await change({ paused: false, description: "" })).toMatchObject({ description: "", state: "enabled" });
    expect((await call("GET", `/webhook-endpoints/${id}`)).json).toMatchObject({ url: `${url}/2`, state: "enabled" });
    expect((await call("DELETE", `/webhook-endpoints/${id}`)).status).toBe(204);
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/rotate-secret"],
      ["GET", "/deliveries"],
      ["GET", "/deliveries/1"],
    ] as const) {
      const { status, json } = await call(method, `/webhook-endpoints/${id}${path}`);
      expect([method, status, json.code]).toEqual([method, 404, "webhook_endpoint_not_found"]);
    }
    expect((await call("PATCH", `/webhook-endpoints/${id}`, { body: {} })).status).toBe(404);
  });

  test("adds no event if a request changes nothing", async () => {
    const fields = { url, types: ["pet.created"], description: "Till" };
    const { id } = (await create(fields)).json;
    const before = (await updates()).json;
    for (const body of [{}, { paused: false }, fields]) {
      const { status, json } = await call("PATCH", `/webhook-endpoints/${id}`, { body });
      expect([status, json]).toEqual([200, expect.objectContaining({ ...fields, state: "enabled" })]);
    }
    expect((await updates()).json).toEqual(before);
  });

  test("gets a new secret and public key by a rotation", async () => {
    const before = (await create({ url })).json;
    const { status, json } = await call("POST", `/webhook-endpoints/${before.id}/rotate-secret`);
    expect(status).toBe(200);
    expect(json).toEqual({
      ...before,
      secret: expect.stringMatching(/^whsec_/),
      publicKey: expect.stringMatching(/^whpk_/),
    });
    expect([json.secret === before.secret, json.publicKey === before.publicKey]).toEqual([false, false]);
    expect((await call("GET", `/webhook-endpoints/${before.id}`)).json.publicKey).toBe(json.publicKey);
  });

  test("is unknown in another account", async () => {
    const { id } = (await create({ url })).json;
    const other = await newKey();
    const ask = async (method: string, body?: object) =>
      (await service.call(method, `/webhook-endpoints/${id}`, { key: other, ...(body && { body }) })).status;
    expect([await ask("GET"), await ask("PATCH", { paused: true }), await ask("DELETE")]).toEqual([404, 404, 404]);
    expect((await service.call("GET", "/webhook-endpoints", { key: other })).json).toEqual([]);
    expect((await call("GET", `/webhook-endpoints/${id}`)).json.state).toBe("enabled");
  });

  test.each([
    ["http://example.org/hook", "url_not_https"],
    ["example.org", "url_invalid"],
    ["https://user:pass@example.org/", "url_has_credentials"],
    ["https://example.org:22/", "url_port_refused"],
    ["https://127.0.0.1/", "address_not_global"],
    ["https://2130706433/", "address_not_global"],
    ["https://0177.0.0.1/", "address_not_global"],
    ["https://localhost/", "address_not_global"],
    ["https://[::1]/", "address_not_global"],
    ["https://[::ffff:10.0.0.1]/", "address_not_global"],
    ["https://[64:ff9b::7f00:1]/", "address_not_global"],
    ["https://[2002:7f00:1::]/", "address_not_global"],
    ["https://100.64.0.1/", "address_not_global"],
    ["https://169.254.169.254/", "address_not_global"],
    ["https://224.0.0.1/", "address_not_global"],
    ["https://192.168.1.1/", "address_not_global"],
  ])("is not created for %s: %s, and cannot get that URL later", async (refused, code) => {
    const { status, json } = await create({ url: refused });
    expect([status, json.code]).toEqual([400, code]);
    const { id } = (await create({ url })).json;
    const changed = await call("PATCH", `/webhook-endpoints/${id}`, { body: { url: refused } });
    expect([changed.status, changed.json.code]).toEqual([400, code]);
    await call("DELETE", `/webhook-endpoints/${id}`);
  });
});

test("a shop has at most 20 endpoints, and lists all of them, oldest first", async () => {
  key = await newKey();
  const ids: string[] = [];
  for (let count = 0; count < 20; count++) {
    service.clock.advance(1);
    ids.push((await create({ url })).json.id);
  }
  const { status, json } = await create({ url });
  expect([status, json.code]).toEqual([409, "too_many_webhook_endpoints"]);
  const listed = (await call("GET", "/webhook-endpoints")).json.map(({ id }: { id: string }) => id);
  expect(listed).toEqual(ids);
  await call("DELETE", `/webhook-endpoints/${ids[0]}`);
  expect((await create({ url })).status).toBe(201);
});

test("a secret depends on the secret key, and without that there is no public key either", async () => {
  let other = await TestService.start({ settings });
  const admin = await newKey(other);
  const { id, publicKey } = (await other.call("POST", "/webhook-endpoints", { key: admin, body: { url } })).json;
  const shownWith = async (keys: string) => {
    await other.app.stop();
    other = await TestService.start({
      store: other.store,
      clock: other.clock,
      settings: { ...settings, PETSTORE_SECRET_KEY: keys },
    });
    return (await other.call("GET", `/webhook-endpoints/${id}`, { key: admin })).json.publicKey;
  };
  const newer = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 5)).toString("base64");
  expect(await shownWith(`${newer},${secretKey}`)).toBe(publicKey);
  await other.call("PATCH", `/webhook-endpoints/${id}`, { key: admin, body: { paused: true } });
  expect(await shownWith(newer)).toBeUndefined();
  const rotated = await other.call("POST", `/webhook-endpoints/${id}/rotate-secret`, { key: admin });
  expect(rotated.json.publicKey).toMatch(/^whpk_/);
  await other.stop();
});

test.skipIf(!onPostgres)("nothing is left of an endpoint that is deleted while its progress is saved", async () => {
  key = await newKey();
  const { id } = (await create({ url })).json;
  const save = await service.store.hold(`UPDATE webhook_endpoints SET version = version WHERE id = '${id}'`);
  const deleting = call("DELETE", `/webhook-endpoints/${id}`);
  await lockAwaited(service.store);
  await save(`
    INSERT INTO webhook_attempts (shop, endpoint_id, event_id, kind, attempt, due_at)
      SELECT shop, id, 1, 'event', 1, 1 FROM webhook_endpoints JOIN shops USING (account_id, mode) WHERE id = '${id}';
    COMMIT
  `);
  expect((await deleting).status).toBe(204);
  expect(await service.store.rows(`SELECT 1 FROM webhook_attempts WHERE endpoint_id = '${id}'`)).toEqual([]);
});

test.skipIf(!onPostgres)(
  "without a secret key and with PostgreSQL, there are no webhooks, and all else works",
  async () => {
    const other = await TestService.start();
    const admin = await newKey(other);
    for (const [method, body] of [["GET"], ["POST", { url }]] as const) {
      const { status, json } = await other.call(method, "/webhook-endpoints", { key: admin, ...(body && { body }) });
      expect([status, json.code]).toEqual([503, "webhooks_unavailable"]);
    }
    expect((await other.call("GET", "/pets", { key: admin })).status).toBe(200);
    await other.stop();
  },
);

test.skipIf(onPostgres)("the embedded store has its own secret key", async () => {
  const other = await TestService.start();
  const admin = await newKey(other);
  expect(existsSync(join(other.store.folder, "secret.key"))).toBe(true);
  expect(
    (await other.call("POST", "/webhook-endpoints", { key: admin, body: { url: "http://127.0.0.1/" } })).status,
  ).toBe(201);
  await other.stop();
});
