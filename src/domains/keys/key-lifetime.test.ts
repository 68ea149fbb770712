// A new key has no scope that the calling key lacks, and does not outlive it.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TestService } from "../../../test/harness/service.ts";
import { type Scope, scopes } from "../../contract/caller.ts";
import { HOUR_SECONDS } from "../../timing/clock.ts";

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

const iso = (seconds: number) => new Date(service.clock.now() + seconds * 1000).toISOString();
const create = (key: string, body: object) => service.call("POST", "/keys", { key, body });
const rotate = (key: string, id: string, query = "") => service.call("POST", `/keys/${id}/rotate${query}`, { key });

/** A key without an end, and one that it made, which ends in an hour. Both have all scopes. */
async function newAdmins() {
  const { account, key: endless } = await service.newAccountWithKey("enterprise", undefined, [...scopes]);
  const { json } = await create(endless, { name: "for an hour", scopes: [...scopes], expiresIn: HOUR_SECONDS });
  return { account, endless, hourly: json as { id: string; key: string; expiresAt: string } };
}

describe("createKey with a key that expires", () => {
  test("creates keys that expire with it or earlier", async () => {
    const { hourly } = await newAdmins();
    for (const expiresIn of [60, HOUR_SECONDS]) {
      const { status, json } = await create(hourly.key, { name: "short", scopes: ["admin"], expiresIn });
      expect([status, json.expiresAt]).toEqual([201, iso(expiresIn)]);
    }
  });

  test.each([
    ["one second too long", { expiresIn: HOUR_SECONDS + 1 }],
    ["ten years long", { expiresIn: 315_360_000 }],
    ["without an end", {}],
  ])("refuses a lifetime %s, and names the longest", async (_name, life) => {
    const { hourly, endless } = await newAdmins();
    const { status, json } = await create(hourly.key, { name: "long", scopes: ["read"], ...life });
    expect([status, json.code]).toEqual([403, "lifetime_exceeds_key"]);
    expect(json.message).toBe(
      `The new key would expire after the calling key, which expires at ${hourly.expiresAt}. Use an expiresIn of at most 3600.`,
    );
    expect((await service.call("GET", "/keys", { key: endless })).json).toHaveLength(2);
  });

  test("refuses every lifetime if less than the shortest is left", async () => {
    const { hourly } = await newAdmins();
    service.clock.advance((HOUR_SECONDS - 59) * 1000);
    const { status, json } = await create(hourly.key, { name: "late", scopes: ["read"], expiresIn: 60 });
    expect([status, json.code]).toEqual([403, "lifetime_exceeds_key"]);
    expect(json.message).toBe(
      `The new key would expire after the calling key, which expires at ${hourly.expiresAt}. Use a key that expires later.`,
    );
  });

  test("cannot create an endless chain of keys", async () => {
    let { key } = (await newAdmins()).hourly;
    for (let link = 0; link < 3; link++) {
      service.clock.advance(600_000);
      const left = HOUR_SECONDS - (link + 1) * 600;
      expect((await create(key, { name: "next", scopes: ["admin"], expiresIn: left + 1 })).status).toBe(403);
      key = (await create(key, { name: "next", scopes: ["admin"], expiresIn: left })).json.key;
    }
    service.clock.advance((HOUR_SECONDS - 3 * 600) * 1000);
    expect((await service.call("GET", "/key", { key })).status).toBe(401);
  });
});

describe("createKey", () => {
  test.each<[Scope[], Scope[]]>([
    [["admin"], ["read"]],
    [["admin", "read"], ["write"]],
    [
      ["admin", "write"],
      ["admin", "read", "write"],
    ],
  ])("with a key with %j grants no %j", async (held, wanted) => {
    const { key } = await service.newAccountWithKey("enterprise", undefined, held);
    const { status, json } = await create(key, { name: "more", scopes: wanted });
    expect([status, json.code]).toEqual([403, "scope_not_held"]);
  });
});

describe("rotateKey with a key that expires", () => {
  test("replaces it by a key with the same end", async () => {
    const { hourly } = await newAdmins();
    service.clock.advance(1_000);
    const { status, json } = await rotate(hourly.key, hourly.id);
    expect([status, json.expiresAt]).toEqual([201, hourly.expiresAt]);
  });

  test("refuses to replace a key that expires later, and does not change it", async () => {
    const { account, hourly } = await newAdmins();
    const other = await service.app.keys.issueKey(account.id, "other", ["read"], service.clock.now());
    const { status, json } = await rotate(hourly.key, other.record.id, "?overlap=0");
    expect([status, json.code]).toEqual([403, "lifetime_exceeds_key"]);
    expect(json.message).toBe(
      `The new key would expire after the calling key, which expires at ${hourly.expiresAt}. Use a key that expires later.`,
    );
    expect((await service.call("GET", "/key", { key: other.key })).status).toBe(200);
  });

  test("creates no key that outlives the overlap of a replaced calling key", async () => {
    const { key, record } = await service.newAccountWithKey("enterprise", undefined, [...scopes]);
    const send = () =>
      service.call("POST", `/keys/${record.id}/rotate?overlap=60`, { key, headers: { "Idempotency-Key": "rotation" } });
    const { json: successor } = await send();
    for (const { status, json } of [
      await create(key, { name: "back door", scopes: ["admin"] }),
      await rotate(key, record.id),
      await rotate(key, successor.id),
    ]) {
      expect([status, json.code]).toEqual([403, "lifetime_exceeds_key"]);
    }
    expect((await create(key, { name: "within", scopes: ["read"], expiresIn: 60 })).status).toBe(201);
    expect((await send()).json).toEqual(successor); // the answer that was lost is still there to be read
    expect((await rotate(successor.key, record.id)).json.expiresAt).toBeUndefined();
  });
});
