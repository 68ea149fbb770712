import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { development } from "../../../test/harness/key-environments.ts";
import { metric } from "../../../test/harness/metrics.ts";
import { nextOf } from "../../../test/harness/next-page.ts";
import { eventually } from "../../../test/harness/program.ts";
import { exchange, type RawResponse } from "../../../test/harness/raw-http.ts";
import { TestService } from "../../../test/harness/service.ts";
import { lockAwaited, onPostgres } from "../../../test/harness/test-store.ts";
import { addressQuota, type Scope, scopes } from "../../contract/caller.ts";
import { AccountStore } from "../accounts/accounts.store.ts";
import { MAX_PER_SECOND } from "../requests/requests.operations.ts";
import { generateApiKey, keyDigest } from "./api-key.ts";
import { MAX_KEYS } from "./keys.operations.ts";
import { KeyStore } from "./keys.store.ts";

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

const iso = (milliseconds: number) => new Date(service.clock.now() + milliseconds).toISOString();
const seconds = (milliseconds = 0) => Math.ceil((service.clock.now() + milliseconds) / 1000);
/** A key that may do everything, of a new account. */
const newAdmin = () => service.newAccountWithKey("enterprise", undefined, [...scopes]);
const get = (key: string, path: string) => service.call("GET", path, { key });
const create = (key: string, body: object) => service.call("POST", "/keys", { key, body });
const rotate = (key: string, id: string, query = "") => service.call("POST", `/keys/${id}/rotate${query}`, { key });
const revoke = (key: string, id: string) => service.call("DELETE", `/keys/${id}`, { key });
const isValid = async (key: string) => (await get(key, "/key")).status === 200;

/** Sends the head of a request, calls `beforeBody`, then sends the body. */
async function sendLate(method: string, path: string, key: string, body: object, beforeBody: () => Promise<void>) {
  const text = JSON.stringify(body);
  const head = [
    `${method} /v1${path} HTTP/1.1`,
    "Host: petstore",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `Content-Length: ${text.length}`,
    "Connection: close",
  ];
  const wait = { isOver: false };
  function* pieces() {
    yield `${head.join("\r\n")}\r\n\r\n`;
    while (!wait.isOver) yield "";
    yield text;
  }
  const responses = exchange(service.app.port, pieces());
  await beforeBody();
  wait.isOver = true;
  const [response] = (await responses) as [RawResponse];
  service.check({ method, path, ...response });
  return response;
}

describe("getCurrentKey", () => {
  test("returns the key's account, mode and scopes, and the state of its windows", async () => {
    const { key, record, account } = await service.newAccountWithKey("free", undefined, ["read"]);
    for (let request = 0; request < 3; request++) await get(key, "/pets");
    service.clock.advance(20_000);
    const { status, json, headers } = await get(key, "/key");
    expect(status).toBe(200);
    expect(json).toEqual({
      id: record.id,
      name: "test",
      mode: "test",
      hint: record.hint,
      scopes: ["read"],
      createdAt: iso(-20_000),
      account: { id: account.id, name: "Test", plan: "free" },
      limits: {
        minute: { limit: 60, used: 3, remaining: 57, reset: seconds(40_000) },
        day: { limit: 1_000, used: 3, remaining: 997, reset: Date.UTC(2026, 10, 22) / 1000 },
      },
      strikes: { count: 0, untilBan: 30 },
      bans: { next: 60, first: 60, longest: 3_600, forgottenAfter: 86_400 },
    });
    expect(headers.get("x-ratelimit-remaining")).toBe("57");
    expect(key).not.toContain(json.hint);
  });

  test("counts strikes, and returns a ban and the length of the next one", async () => {
    const quota = { perMinute: 10, perDay: 1_000 };
    const { key } = await service.newAccountWithKey("enterprise", quota, ["read"]);
    const other = await service.app.keys.issueKey(
      (await get(key, "/key")).json.account.id,
      "other",
      ["read"],
      service.clock.now(),
    );
    for (let request = 0; request < 11; request++) await get(key, "/pets");
    service.clock.advance(1_000);
    for (let strike = 0; strike < 7; strike++) await get(key, "/pets");
    expect((await get(key, "/key")).json.strikes).toEqual({ count: 7, untilBan: 13 });
    for (let strike = 0; strike < 13; strike++) await get(key, "/pets");
    service.clock.advance(17_000);
    const { json, status } = await get(key, "/key");
    expect(status).toBe(200);
    expect(json.ban).toEqual({ reason: "It kept sending requests after a 429.", endsAt: iso(43_000) });
    expect([json.strikes, json.bans.next]).toEqual([{ count: 0, untilBan: 20 }, 120]);
    expect((await get(other.key, "/key")).json).toMatchObject({ strikes: { count: 0 }, bans: { next: 60 } });
    expect((await get(other.key, "/key")).json.ban).toBeUndefined();

    service.clock.advance(43_000);
    const after = (await get(key, "/key")).json;
    expect([after.ban, after.bans.next]).toEqual([undefined, 120]);
    service.clock.advance(86_400_000);
    expect((await get(key, "/key")).json.bans.next).toBe(60);
  });

  test("is banned at the next strike if a smaller plan has made its strikes too many", async () => {
    const { key, account } = await service.newAccountWithKey("enterprise", { perMinute: 100, perDay: 1_000 }, ["read"]);
    for (let request = 0; request < 101; request++) await get(key, "/pets");
    service.clock.advance(1_000);
    for (let strike = 0; strike < 45; strike++) await get(key, "/pets");
    await service.app.accounts.setPlan(account.id, "free", undefined);
    expect((await get(key, "/key")).json.strikes).toEqual({ count: 45, untilBan: 1 });
    await get(key, "/pets");
    expect((await get(key, "/key")).json.ban).toBeDefined();
  });

  test("resets the strikes after Retry-After", async () => {
    const { key } = await service.newAccountWithKey("enterprise", { perMinute: 1, perDay: 1_000 }, ["read"]);
    for (let request = 0; request < 2; request++) await get(key, "/pets");
    service.clock.advance(1_000);
    await get(key, "/pets");
    expect((await get(key, "/key")).json.strikes.count).toBe(1);
    service.clock.advance(60_000);
    expect((await get(key, "/key")).json.strikes.count).toBe(0);
  });

  test("has a separate, equal limit and adds no strikes", async () => {
    const quota = { perMinute: 5, perDay: 1_000 };
    const { key } = await service.newAccountWithKey("enterprise", quota, ["read"]);
    for (let request = 0; request < 5; request++) expect((await get(key, "/key")).status).toBe(200);
    service.clock.advance(2_000);
    for (let request = 0; request < 50; request++) {
      const { status, json, headers } = await get(key, "/key");
      expect([status, json.code, headers.get("retry-after")]).toEqual([429, "rate_limit_exceeded", "58"]);
    }
    expect((await get(key, "/pets")).status).toBe(200);
    service.clock.advance(58_000);
    expect((await get(key, "/key")).json).toMatchObject({ limits: { minute: { used: 1 } }, strikes: { count: 0 } });
  });
});

describe("createKey", () => {
  test("creates a key that works at once and is returned once", async () => {
    const admin = await newAdmin();
    const { status, json } = await create(admin.key, { name: "till", scopes: ["read"], expiresIn: 3_600 });
    expect(status).toBe(201);
    expect(json).toMatchObject({ name: "till", scopes: ["read"], createdAt: iso(0), expiresAt: iso(3_600_000) });
    expect(json.key).toMatch(/^psk_test_[0-9A-Za-z]{38}$/);
    expect((await get(json.key, "/pets")).status).toBe(200);
    expect((await get(json.key, "/keys")).status).toBe(403);
    const list = await get(admin.key, "/keys");
    expect(list.text).not.toContain(json.key);
    service.clock.advance(3_599_999);
    expect(await isValid(json.key)).toBe(true);
    service.clock.advance(1);
    expect(await isValid(json.key)).toBe(false);
  });

  test("refuses scopes that the calling key lacks", async () => {
    const { key } = await service.newAccountWithKey("enterprise", undefined, ["read", "admin"]);
    const { status, json, headers } = await create(key, { name: "more", scopes: ["read", "write"] });
    expect([status, json.code]).toEqual([403, "scope_not_held"]);
    expect(headers.get("www-authenticate")).toBeNull(); // the scope of the operation is there
    expect((await create(key, { name: "another admin", scopes: ["admin"] })).status).toBe(201);
  });

  test.each<[object, string]>([
    [{ name: "" }, "/body/name"],
    [{ name: "x".repeat(101) }, "/body/name"],
    [{ name: "\u001b[2J" }, "/body/name"],
    [{ scopes: [] }, "/body/scopes"],
    [{ scopes: ["read", "read", "read", "read"] }, "/body/scopes"],
    [{ scopes: ["all"] }, "/body/scopes/0"],
    [{ expiresIn: 59 }, "/body/expiresIn"],
    [{ expiresIn: 315_360_001 }, "/body/expiresIn"],
  ])("refuses %j", async (part, path) => {
    const { key } = await newAdmin();
    const { status, json } = await create(key, { name: "till", scopes: ["read"], ...part });
    expect([status, json.details[0].path]).toEqual([400, path]);
  });

  test("returns the same key to a retry with the same Idempotency-Key, and creates no other", async () => {
    const { key } = await newAdmin();
    const send = () =>
      service.call("POST", "/keys", {
        key,
        body: { name: "till", scopes: ["read"] },
        headers: { "Idempotency-Key": "a-new-till" },
      });
    const [made, again] = [await send(), await send()];
    expect([made.status, again.status, again.headers.get("idempotent-replayed")]).toEqual([201, 201, "true"]);
    expect(again.json).toEqual(made.json);
    expect((await get(key, "/keys")).json).toHaveLength(2);
  });

  test(`lets an account have ${MAX_KEYS} valid keys, also if they are created concurrently`, async () => {
    const { key } = await newAdmin();
    const answers = await Promise.all(
      Array.from({ length: MAX_KEYS + 20 }, (_, index) => create(key, { name: `key ${index}`, scopes: ["read"] })),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ json }) => json.code)).toEqual(Array(21).fill("too_many_keys"));
    const [one, two] = answers.filter(({ status }) => status === 201).map(({ json }) => json);
    expect((await rotate(key, one.id)).json.code).toBe("too_many_keys");
    const replacing = await rotate(key, one.id, "?overlap=0");
    expect(replacing.status).toBe(201);
    expect((await create(key, { name: "too many", scopes: ["read"] })).status).toBe(409);
    await revoke(key, two.id);
    expect((await create(key, { name: "room", scopes: ["read"] })).status).toBe(201);
  });

  test("stores a thousand keys of an account, and deletes the oldest ended ones", async () => {
    const { key, account, record } = await newAdmin();
    const made = Array.from({ length: 1_010 }, (_, index) => `key_${index}`);
    const rows = made.map((id, index) => {
      const madeAt = service.clock.now() + index;
      return `('${id}', '${account.id}', 'test', '${index}', '${id}', '', 'read', ${madeAt}, ${madeAt})`;
    });
    await service.store.run(
      `INSERT INTO api_keys (id, account_id, mode, name, digest, hint, scopes, created_at, revoked_at) VALUES ${rows.join(", ")}`,
    );
    service.clock.advance(2_000);
    await create(key, { name: "last", scopes: ["read"] });
    const kept = (await service.app.keys.list(account.id)).map(({ id }) => id);
    expect(kept).toHaveLength(1_000);
    expect(kept).toContain(record.id);
    expect(kept.slice(1, -1)).toEqual(made.slice(-998));
  });
});

describe("listKeys", () => {
  test("returns the keys of the account only, page by page, with their last use", async () => {
    const [mine, theirs] = [await newAdmin(), await newAdmin()];
    const made: string[] = [mine.record.id];
    for (let index = 0; index < 4; index++) {
      if (index % 2 === 0) service.clock.advance(10);
      made.push((await create(mine.key, { name: `key ${index}`, scopes: ["read"] })).json.id);
    }
    const seen: { id: string; lastUsedAt?: string }[] = [];
    let path: string | undefined = "/keys?limit=2";
    while (path) {
      const { json, headers } = await get(mine.key, path);
      seen.push(...json);
      path = nextOf({ headers });
    }
    expect(seen.map(({ id }) => id).toSorted()).toEqual(made.toSorted());
    expect(seen[0]?.id).toBe(mine.record.id);
    expect([iso(-10), iso(0)]).toContain(seen[0]?.lastUsedAt as string); // a use is noted every now and then
    expect(seen[1]?.lastUsedAt).toBeUndefined();
    expect(seen.map(({ id }) => id)).not.toContain(theirs.record.id);
  });
});

describe("rotateKey", () => {
  test("creates a key like the old one, which stays valid for a day or the given overlap", async () => {
    const { key } = await newAdmin();
    const old = (await create(key, { name: "till", scopes: ["write", "read", "read"] })).json;
    const { status, json } = await rotate(key, old.id);
    expect(status).toBe(201);
    expect(json).toMatchObject({ name: "till", scopes: ["read", "write"] });
    expect(json.expiresAt).toBeUndefined();
    expect(json.replaced).toMatchObject({ id: old.id, expiresAt: iso(86_400_000) });
    const again = await rotate(key, json.id, "?overlap=5");
    service.clock.advance(4_999);
    expect([await isValid(old.key), await isValid(json.key), await isValid(again.json.key)]).toEqual([
      true,
      true,
      true,
    ]);
    service.clock.advance(1);
    expect([await isValid(old.key), await isValid(json.key), await isValid(again.json.key)]).toEqual([
      true,
      false,
      true,
    ]);
    expect((await rotate(key, json.id)).json.code).toBe("key_ended");
  });

  test("keeps the planned end of a key, but not the end from an earlier rotation", async () => {
    const { key } = await newAdmin();
    const old = (await create(key, { name: "guest", scopes: ["read"], expiresIn: 1_000_000 })).json;
    service.clock.advance(1_000);
    const first = (await rotate(key, old.id, "?overlap=60")).json;
    expect([first.expiresAt, first.replaced.expiresAt]).toEqual([old.expiresAt, iso(60_000)]);
    const second = (await rotate(key, old.id)).json; // the answer with the first one may have been lost
    expect([second.expiresAt, second.replaced.expiresAt]).toEqual([old.expiresAt, iso(60_000)]);
  });

  test("can replace the calling key", async () => {
    const { key, record } = await newAdmin();
    const { json } = await rotate(key, record.id, "?overlap=60");
    expect((await get(json.key, "/keys")).status).toBe(200);
    service.clock.advance(60_000);
    expect([await isValid(key), await isValid(json.key)]).toEqual([false, true]);
  });

  test("keeps the calling key valid for at least a minute, so that a lost response can be requested again", async () => {
    const { key, record } = await newAdmin();
    for (const overlap of [0, 59]) {
      const { status, json } = await rotate(key, record.id, `?overlap=${overlap}`);
      expect([status, json.details]).toEqual([
        400,
        [{ path: "/query/overlap", message: "must be at least 60 for the calling key" }],
      ]);
    }
    expect(await isValid(key)).toBe(true);
  });

  test("refuses keys with scopes that the calling key lacks", async () => {
    const { key, account } = await service.newAccountWithKey("enterprise", undefined, ["admin"]);
    const strong = await service.app.keys.issueKey(account.id, "strong", ["read", "write"], service.clock.now());
    const { status, json } = await rotate(key, strong.record.id);
    expect([status, json.code]).toEqual([403, "scope_not_held"]);
    expect(json.message).toContain("read and write");
    expect(await isValid(strong.key)).toBe(true);
  });

  test.each(["-1", "2592001", "1.5", ""])("refuses an overlap of %j", async (overlap) => {
    const { key, record } = await newAdmin();
    const { status, json } = await rotate(key, record.id, `?overlap=${overlap}`);
    expect([status, json.details[0].path]).toEqual([400, "/query/overlap"]);
  });
});

describe("revokeKey", () => {
  test("revokes a key at once, and again without an error", async () => {
    const { key } = await newAdmin();
    const { json: till } = await create(key, { name: "till", scopes: ["read"] });
    expect(await isValid(till.key)).toBe(true);
    expect((await revoke(key, till.id)).status).toBe(204);
    expect(await isValid(till.key)).toBe(false);
    expect((await revoke(key, till.id)).status).toBe(204);
    const listed = (await get(key, "/keys")).json.find(({ id }: { id: string }) => id === till.id);
    expect(listed.revokedAt).toBe(iso(0));
  });

  test("requires that a key with the scope admin and as long a life remains", async () => {
    const { key, record } = await newAdmin();
    const refused = async () => {
      const { status, json } = await revoke(key, record.id);
      expect([status, json?.code]).toEqual([409, "last_admin_key"]);
    };
    await refused();
    await create(key, { name: "no admin", scopes: ["read", "write"] });
    await refused();
    await create(key, { name: "soon over", scopes: ["admin"], expiresIn: 3_600 });
    await refused();
    const { json: successor } = await create(key, { name: "successor", scopes: ["admin"] });
    const answers = await Promise.all([revoke(key, record.id), revoke(successor.key, successor.id)]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204, 409]));
  });
});

const keyChanges: [effect: string, method: string, pathFor: (keyId: string) => string, body: object][] = [
  ["creates no key", "POST", () => "/keys", { name: "back door", scopes: ["admin"] }],
  ["replaces no key", "POST", (id) => `/keys/${id}/rotate`, {}],
  ["revokes no key", "DELETE", (id) => `/keys/${id}`, {}],
];
const addition: (typeof keyChanges)[0] = ["adds no animal", "POST", () => "/pets", { name: "Late", categoryId: 1 }];

describe.each([
  ["is revoked", [...keyChanges, addition], revoke],
  ["expires", keyChanges, () => service.clock.advance(1)],
] as const)("a key that %s before the body of its request arrives", (_, requests, end) => {
  test.each(requests)("%s", async (__, method, pathFor, body) => {
    const owner = await newAdmin();
    const { json: leaked } = await create(owner.key, { name: "leaked", scopes: [...scopes], expiresIn: 3_600 });
    service.clock.advance(3_599_999);
    const used = async () => (await get(owner.key, "/key")).json.limits.minute.used;
    const before = await used();
    const { status, headers, text } = await sendLate(method, pathFor(owner.record.id), leaked.key, body, async () => {
      await eventually(used, (count) => count > before); // the leaked key was valid
      await end(owner.key, leaked.id);
    });
    expect([status, JSON.parse(text).code]).toEqual([401, "invalid_api_key"]);
    expect(headers.get("www-authenticate")).toContain("invalid_token");
    const others = (await get(owner.key, "/keys")).json.filter(({ id }: { id: string }) => id !== leaked.id);
    expect(others).toMatchObject([{ id: owner.record.id }]);
    expect(others[0]).not.toContainAnyKeys(["expiresAt", "revokedAt"]);
  });
});

describe("401 says to who holds a key that was valid once", () => {
  const ends: [end: string, message: string, end: (admin: string, id: string) => unknown][] = [
    ["revoked", "The API key was revoked.", revoke],
    ["expired", "The API key has expired.", () => service.clock.advance(3_600_000)],
    ["replaced", "The API key has expired.", (admin, id) => rotate(admin, id, "?overlap=0")],
  ];
  test.each(ends)("that it is %s, and its shop has the request, again and again", async (_, message, end) => {
    const { key: admin } = await newAdmin();
    const { json: till } = await create(admin, { name: "till", scopes: ["read"], expiresIn: 3_600 });
    expect(await isValid(till.key)).toBe(true);
    await end(admin, till.id);
    for (let time = 0; time < 2; time++) {
      const { status, json, headers } = await get(till.key, "/pets");
      expect([status, json.code, json.message]).toEqual([401, "invalid_api_key", message]);
      expect(headers.get("www-authenticate")).toContain("invalid_token");
      expect(headers.get("x-ratelimit-limit")).toBe(String(addressQuota.perMinute));
      const id = headers.get("x-request-id");
      const { json: record } = await eventually(
        () => get(admin, `/requests/${id}`),
        (found) => found.status === 200,
      );
      expect(record).toMatchObject({ keyId: till.id, code: json.code, message, stage: "identify", path: "/pets" });
      const listed = (await get(admin, `/requests?keyId=${till.id}&code=invalid_api_key`)).json;
      expect(listed[0].id).toBe(id);
      const line = await eventually(
        () => service.logLines.find((one) => one.includes(`"requestId":"${id}"`)) ?? "",
        (found) => found !== "", // the log is written in pieces
      );
      expect(JSON.parse(line)).toMatchObject({ keyId: till.id });
    }
    const { json: usage } = await get(admin, `/usage?keyId=${till.id}`);
    expect(JSON.stringify(usage)).not.toContain('"401"'); // it is no use of the shop
    service.clock.advance(60_000); // the limit of the address
  });

  test("but records no more of a flood than of other failures, and none over the limit of its address", async () => {
    const { key: admin } = await newAdmin();
    const { json: till } = await create(admin, { name: "till", scopes: ["read"] });
    await revoke(admin, till.id);
    const unrecorded = () => metric(service.app.base, "petstore_requests_unrecorded_total");
    const before = await unrecorded();
    const codes = new Map<string, number>();
    for (let sent = 0; sent < addressQuota.perMinute + 5; sent++) {
      const { code } = (await get(till.key, "/pets")).json;
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect(Object.fromEntries(codes)).toEqual({ invalid_api_key: addressQuota.perMinute, rate_limit_exceeded: 5 });
    expect((await unrecorded()) - before).toBeGreaterThanOrEqual(addressQuota.perMinute - MAX_PER_SECOND);
    const listed = () => get(admin, `/requests?keyId=${till.id}`);
    const { json } = await eventually(listed, (found) => found.json.length >= MAX_PER_SECOND);
    expect(json.map(({ code }: { code: string }) => code)).toEqual(Array(MAX_PER_SECOND).fill("invalid_api_key"));
    service.clock.advance(60_000);
  });

  test("but not that the account of a key was deleted", async () => {
    const { account, key } = await newAdmin();
    await service.app.accounts.delete(account.id, service.clock.now());
    expect((await get(key, "/pets")).json.message).toBe((await get(generateApiKey("test"), "/pets")).json.message);
  });
});

test("after a change of an account by another process, only its keys are looked up again", async () => {
  const [changed, same] = [await newAdmin(), await newAdmin()];
  const beside = await service.store.open();
  using look = spyOn(service.app.keys, "findCaller");
  const looksUp = async ({ key }: { key: string }) => {
    look.mockClear();
    await isValid(key);
    return look.mock.calls.some(([digest]) => digest === keyDigest(key));
  };
  // A process that has checked too late takes any account as changed: then it is tried again.
  await eventually(async () => {
    for (const one of [changed, same]) await isValid(one.key);
    await new AccountStore(beside).rename(changed.account.id, "Other name");
    await eventually(() => looksUp(changed));
    return !(await looksUp(same));
  });
  await beside.close();
});

test("an operation on a key of another account returns 404", async () => {
  const [mine, theirs] = [await newAdmin(), await newAdmin()];
  for (const id of [theirs.record.id, "key_0000000000000000"]) {
    for (const { status, json } of [await rotate(mine.key, id), await revoke(mine.key, id)]) {
      expect([status, json.code, json.message]).toEqual([
        404,
        "key_not_found",
        expect.stringMatching(/^No key of the account has this id\./),
      ]);
    }
  }
  expect(await isValid(theirs.key)).toBe(true);
  expect(((await get(theirs.key, "/keys")).json as { scopes: Scope[] }[]).length).toBe(1);
});

const deadlocks = async ({ store } = service) => {
  const [row] = await store.rows("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
  return (row as { deadlocks: unknown }).deadlocks;
};
test.skipIf(!onPostgres).each([
  ["create", (key: string) => create(key, { name: "till", scopes: ["read"] })],
  ["rotate", (key: string, id: string) => rotate(key, id)],
  ["revoke", (key: string, id: string) => revoke(key, id)],
  ["ban", (_: string, id: string) => service.app.keys.banKey(id, service.clock.now())],
  ["delete the account", (_: string, __: string, id: string) => service.app.accounts.delete(id, service.clock.now())],
] as const)("a change of keys waits for its shop, and keys of other accounts can be created: %s", async (_, change) => {
  const [one, other] = [await newAdmin(), await newAdmin()];
  await create(one.key, { name: "other admin", scopes: [...scopes] });
  const unlock = await service.store.lockShop(await service.shop(one.account.id));
  let isWaiting = true;
  const waiting = Promise.resolve(change(one.key, one.record.id, one.account.id)).then(() => (isWaiting = false));
  await lockAwaited(service.store);
  const { status } = await create(other.key, { name: "till", scopes: ["read"] });
  expect([status, isWaiting]).toEqual([201, true]);
  await unlock();
  await waiting;
});

test.skipIf(!onPostgres)("creating keys while their sandbox is reset causes no deadlock", async () => {
  const own = await TestService.start();
  const { key } = await own.newAccountWithKey("enterprise", undefined, [...scopes]);
  const send = (path: string, body: object) => own.call("POST", path, { key, body });
  const sent = Array.from({ length: 20 }, (_, index) => [
    send("/keys", { name: `till ${index}`, scopes: ["read"] }),
    send("/sandbox/reset", { animals: "none" }),
  ]);
  const statuses = (await Promise.all(sent.flat())).map(({ status }) => status);
  // Another reset, or a creation that waits while the shop ends, is refused.
  expect(statuses.filter((status) => ![200, 201, 409, 503].includes(status))).toEqual([]);
  expect(statuses).toContain(200);
  expect(statuses).toContain(201);
  await expectNoDeadlock(own);
});

test.skipIf(!onPostgres)("rotating keys of one account while another creates some causes no deadlock", async () => {
  const own = await TestService.start();
  const [one, other] = [
    await own.newAccountWithKey("enterprise", undefined, [...scopes]),
    await own.newAccountWithKey("enterprise", undefined, [...scopes]),
  ];
  const send = (key: string, path: string, body: object) => own.call("POST", path, { key, body });
  const tills = Array.from({ length: 20 }, (_, index) => ({ name: `till ${index}`, scopes: ["read"] }));
  const made = await Promise.all(tills.map((till) => send(one.key, "/keys", till)));
  const sent = made.flatMap(({ json }, index) => [
    send(one.key, `/keys/${json.id}/rotate?overlap=0`, {}),
    send(other.key, "/keys", tills[index] as object),
  ]);
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  expect(statuses.filter((status) => status !== 200 && status !== 201)).toEqual([]);
  await expectNoDeadlock(own);
});

/** Stops a service and removes its store, in which there was no deadlock. */
async function expectNoDeadlock(own: TestService): Promise<void> {
  await own.app.stop();
  // A session reports its statistics when it ends.
  const others = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
  await eventually(async () => (await own.store.rows(others)).length === 0);
  expect(await deadlocks(own)).toEqual(0n);
  await own.store.remove();
}

test.skipIf(!onPostgres)("uses of keys are saved by two processes at once without a deadlock", async () => {
  const before = await deadlocks();
  const { key } = await newAdmin();
  const ids: string[] = [];
  for (let count = 0; count < 40; count++) ids.push((await create(key, { name: "till", scopes: ["read"] })).json.id);
  const storages = [await service.store.open(), await service.store.open()];
  for (let round = 0; round < 5; round++) {
    const [inOrder, reversed] = [ids, ids.toReversed()].map((list) => list.map((id) => [id, round] as const));
    const lists = [inOrder ?? [], reversed ?? []];
    await Promise.all(
      storages.map((storage, index) => new KeyStore(storage, development).noteUses(lists[index] ?? [])),
    );
  }
  for (const storage of storages) await storage.close(); // a connection reports its statistics when it ends
  expect(await deadlocks()).toEqual(before);
});
