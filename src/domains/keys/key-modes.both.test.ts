// Live and test keys of one account: a live key manages both, a test key knows of test keys only.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { nextOf } from "../../../test/harness/next-page.ts";
import { TestService } from "../../../test/harness/service.ts";
import { lockAwaited, onPostgres } from "../../../test/harness/test-store.ts";
import { type Mode, scopes } from "../../contract/caller.ts";
import { MAX_KEYS } from "./keys.operations.ts";

let service: TestService;
beforeAll(async () => {
  service = await TestService.start({ settings: { PETSTORE_ENV: "production" } });
});
afterAll(() => service.stop());

const get = (key: string, path: string) => service.call("GET", path, { key });
const create = (key: string, more: object = {}) =>
  service.call("POST", "/keys", { key, body: { name: "till", scopes: ["admin"], ...more } });
const rotate = (key: string, id: string) => service.call("POST", `/keys/${id}/rotate`, { key });
const revoke = (key: string, id: string) => service.call("DELETE", `/keys/${id}`, { key });
const idsOf = async (key: string, query = "") =>
  (await get(key, `/keys${query}`)).json.map(({ id }: { id: string }) => id);

/** An account with one key of each mode, which has all scopes. */
async function newShops() {
  const { account, key, record } = await service.newAccountWithKey("enterprise", undefined, [...scopes]);
  service.clock.advance(10); // keys are listed by the time of their creation
  const sandbox = await service.app.keys.issueKey(account.id, "sandbox", scopes, service.clock.now(), "test");
  service.clock.advance(10);
  return { account, live: { key, id: record.id }, sandbox: { key: sandbox.key, id: sandbox.record.id } };
}

test("each view of a key shows its mode", async () => {
  const { live, sandbox } = await newShops();
  for (const [{ key, id }, mode] of [
    [live, "live"],
    [sandbox, "test"],
  ] as const) {
    expect(key).toStartWith(`psk_${mode}_00`);
    expect((await get(key, "/key")).json.mode).toBe(mode);
    const { json } = await rotate(key, id);
    expect([json.mode, json.replaced.mode]).toEqual([mode, mode]);
    expect(json.key).toStartWith(`psk_${mode}_00`);
    expect(await idsOf(key, `?mode=${mode}`)).toEqual([id, json.id]);
  }
  const all = (await get(live.key, "/keys")).json as { mode: Mode }[];
  expect(all.map(({ mode }) => mode).toSorted()).toEqual(["live", "live", "test", "test"]);
});

/** The kind of each event's actor, and the key that it names. */
const actors = async (key: string) =>
  (await get(key, "/events")).json.map(({ actor: { kind, keyId } }: { actor: Record<string, string> }) => [
    kind,
    keyId,
  ]);

test("the log of the sandbox names no live key", async () => {
  const { live, sandbox } = await newShops();
  await create(live.key, { mode: "test" });
  await create(live.key);
  await create(sandbox.key);
  const { json: made } = await create(live.key, { mode: "test" });
  const { json: replacement } = await rotate(live.key, made.id);
  await revoke(live.key, replacement.id);
  expect(await actors(sandbox.key)).toEqual([
    ["operator", undefined],
    ["key", undefined],
    ["key", sandbox.id],
    ["key", undefined], // created
    ["key", undefined], // rotated
    ["key", undefined], // its replacement: created
    ["key", undefined], // revoked
  ]);
  expect(await actors(live.key)).toEqual([
    ["operator", undefined],
    ["key", live.id],
  ]);
});

describe("createKey", () => {
  test("creates a key of the calling key's mode by default", async () => {
    const { live, sandbox } = await newShops();
    expect((await create(live.key)).json.mode).toBe("live");
    expect((await create(sandbox.key)).json.mode).toBe("test");
  });

  test("creates keys of both modes with a live key", async () => {
    const { live } = await newShops();
    for (const mode of ["live", "test"]) {
      const { status, json } = await create(live.key, { mode });
      expect([status, json.mode]).toEqual([201, mode]);
      expect((await get(json.key, "/key")).json.mode).toBe(mode);
    }
  });

  test("creates no live key with a test key", async () => {
    const { live, sandbox } = await newShops();
    const { status, json } = await create(sandbox.key, { mode: "live" });
    expect([status, json.code]).toEqual([403, "mode_not_held"]);
    expect(await idsOf(live.key)).toEqual([live.id, sandbox.id]);
  });

  test(`lets an account have ${MAX_KEYS} valid keys of each mode`, async () => {
    const { live, sandbox } = await newShops();
    const made = await Promise.all(Array.from({ length: MAX_KEYS }, () => create(sandbox.key)));
    expect(made.filter(({ status }) => status === 201)).toHaveLength(MAX_KEYS - 1);
    expect((await create(live.key, { mode: "test" })).json.code).toBe("too_many_keys");
    expect((await create(live.key)).status).toBe(201);
  });

  test("deletes no ended live key if it is called with a test key", async () => {
    const { account, live, sandbox } = await newShops();
    const rows = Array.from({ length: 1_010 }, (_, index) => {
      const mode = index < 10 ? "live" : "test";
      return `('key_${account.id}_${index}', '${account.id}', '${mode}', '', 'revoked ${account.id} ${index}', '', 'read', 0, 0)`;
    });
    await service.store.run(
      `INSERT INTO api_keys (id, account_id, mode, name, digest, hint, scopes, created_at, revoked_at) VALUES ${rows.join(", ")}`,
    );
    expect((await create(sandbox.key)).status).toBe(201);
    const kept = await service.app.keys.list(account.id);
    const ofMode = (wanted: Mode) => kept.filter(({ mode }) => mode === wanted).length;
    expect([ofMode("live"), ofMode("test")]).toEqual([11, 1_000]);
    expect(kept.map(({ id }) => id)).toContain(live.id);
  });
});

describe("a live key is invisible", () => {
  test("in the list for a test key", async () => {
    const { live, sandbox } = await newShops();
    expect(await idsOf(live.key)).toEqual([live.id, sandbox.id]);
    for (const query of ["", "?mode=test"]) expect(await idsOf(sandbox.key, query)).toEqual([sandbox.id]);
    expect(await idsOf(sandbox.key, "?mode=live")).toEqual([]);
  });

  test("to a test key that tries to rotate or revoke it", async () => {
    const { live, sandbox } = await newShops();
    for (const act of [rotate, revoke]) {
      const [{ status, text }, unknown] = [await act(sandbox.key, live.id), await act(sandbox.key, "key_unknown")];
      expect([status, text]).toEqual([404, unknown.text]);
    }
    expect((await get(live.key, "/key")).status).toBe(200);
  });

  test("as the remaining admin key when a test key is revoked", async () => {
    const { live, sandbox } = await newShops();
    expect((await revoke(live.key, sandbox.id)).json.code).toBe("last_admin_key");
    expect((await revoke(live.key, live.id)).json.code).toBe("last_admin_key");
    await create(sandbox.key);
    expect((await revoke(live.key, live.id)).json.code).toBe("last_admin_key");
    expect((await revoke(live.key, sandbox.id)).status).toBe(204);
  });
});

test.skipIf(!onPostgres)("a request with a test key does not wait for the live shop", async () => {
  const { account, live, sandbox } = await newShops();
  const unlock = await service.store.lockShop(await service.shop(account.id, "live"));
  for (const change of [rotate, revoke]) expect((await change(sandbox.key, live.id)).status).toBe(404);
  await unlock();
});

test.skipIf(!onPostgres).each([
  ["creates", (key: string) => create(key, { mode: "test" }), 201],
  ["rotates", rotate, 201],
  ["revokes", revoke, 204],
] as const)("a live key that %s a test key does not lock the live shop while it waits", async (_, change, expected) => {
  const { account, live, sandbox } = await newShops();
  await create(sandbox.key); // so that the last admin key is not revoked
  const unlock = await service.store.lockShop(await service.shop(account.id, "test"));
  const changing = change(live.key, sandbox.id);
  await lockAwaited(service.store);
  const added = await service.call("POST", "/pets", { key: live.key, body: { name: "Rex", categoryId: 1 } });
  await unlock();
  expect([added.status, (await changing).status]).toEqual([201, expected]);
});

test("a cursor of one mode is refused with the other", async () => {
  const { live } = await newShops();
  await create(live.key);
  const next = nextOf(await get(live.key, "/keys?mode=live&limit=1")) ?? "";
  expect((await get(live.key, next)).status).toBe(200);
  expect((await get(live.key, next.replace("mode=live", "mode=test"))).status).toBe(400);
});
