// Requests that are sent again with their Idempotency-Key, through HTTP.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { DistantStorage } from "../../../test/harness/distant-storage.ts";
import { idempotencyOperations } from "../../../test/harness/idempotency-operations.ts";
import { untilWaiting } from "../../../test/harness/metrics.ts";
import { eventually } from "../../../test/harness/program.ts";
import { exchange } from "../../../test/harness/raw-http.ts";
import { type TestResponse, TestService } from "../../../test/harness/service.ts";
import { lockAwaited, onPostgres } from "../../../test/harness/test-store.ts";
import { domains } from "../../app/domains.ts";
import { openStorage } from "../../app/store/engines.ts";
import { scopes, shopNumber } from "../../contract/caller.ts";
import { RESPONSE_TIMEOUT } from "../../contract/requests.ts";
import { StorageUnavailable } from "../../storage/errors.ts";
import { type ExpiryTime, HOUR_MS } from "../../timing/clock.ts";
import { defineDomain } from "../domain.ts";
import { StoredResponseStore } from "./stored-responses.store.ts";

const rex = { name: "Rex", categoryId: 1 };

let service: TestService;
let account: Awaited<ReturnType<TestService["newAccountWithKey"]>>;
let key: string;

const start = async () => {
  service = await TestService.start({ domains: [...domains, idempotencyOperations] });
};
const newAccount = async () => {
  account = await service.newAccountWithKey("enterprise", undefined, [...scopes]);
  key = account.key;
};

/** The tests share one service, because starting it takes longer than most of them. Each has its own account. */
function shareService(): void {
  beforeAll(start);
  beforeEach(newAccount);
  afterAll(() => service.stop());
}

/** Each test starts its own service, because it restarts it or reads what is stored for all accounts. */
function startEachTime(): void {
  beforeEach(start);
  beforeEach(newAccount);
  afterEach(() => service.stop());
}

/** Sends a request with an Idempotency-Key. */
function send(
  name: string,
  path: string,
  body?: unknown,
  more: { key?: string; method?: string; ifMatch?: string } = {},
) {
  const headers = { "Idempotency-Key": name, ...(more.ifMatch === undefined ? {} : { "If-Match": more.ifMatch }) };
  const call = { key: more.key ?? key, headers, ...(body === undefined ? {} : { body }) };
  return service.call(more.method ?? "POST", path, call);
}

const create = (name: string, body: unknown = rex) => send(name, "/pets", body);
const forward = (name: string) => send(name, "/sandbox/fast-forward", { seconds: 60 });
const animals = async () => (await service.call("GET", "/pets?limit=100", { key })).json.length as number;
const isReplay = ({ headers }: TestResponse) => headers.get("idempotent-replayed") === "true";
/** What must be the same again. */
const essence = ({ status, text, headers }: TestResponse) => ({
  status,
  text,
  ...Object.fromEntries(
    ["location", "etag", "link", "content-type", "retry-after"].map((name) => [name, headers.get(name)]),
  ),
});

const storedResponses = () =>
  service.store.rows("SELECT digest, response FROM stored_responses") as Promise<
    { digest: string; response: string }[]
  >;

describe("a retry with the same Idempotency-Key", () => {
  shareService();

  test("returns the same response, and nothing is done twice", async () => {
    const first = await create("a");
    const again = await create("a");
    expect([first.status, isReplay(first), isReplay(again)]).toEqual([201, false, true]);
    expect(essence(again)).toEqual(essence(first));
    expect(again.headers.get("location")).toBe(`${service.app.base}/pets/1`);
    expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    const [left, leftBefore] = [again, first].map(({ headers }) => Number(headers.get("x-ratelimit-remaining")));
    expect(left).toBe((leftBefore as number) - 1);
    expect(await animals()).toBe(1);
  });

  test("returns every digit", async () => {
    const body = '{"name":"Ünï \\"🐈\\"","categoryId":9223372036854775807}';
    const first = await create("a", body);
    expect(first.text).toContain('"categoryId":9223372036854775807');
    expect(essence(await create("a", body))).toEqual(essence(first));
  });

  test("may have other whitespace, another order of fields and another form of a number", async () => {
    const first = await create("a", '{"name":"Rex","categoryId":100}');
    const again = await create("a", ' {\n"categoryId": 1e2, "name":"\\u0052ex"}');
    expect([isReplay(again), again.text]).toEqual([true, first.text]);
  });

  test("may have another order of the keys of metadata", async () => {
    const first = await create("a", { ...rex, metadata: { shelf: "B-12", colour: "red" } });
    const again = await create("a", { ...rex, metadata: { colour: "red", shelf: "B-12" } });
    expect([first.status, isReplay(again), again.text]).toEqual([201, true, first.text]);
    const other = await create("a", { ...rex, metadata: { colour: "B-12", shelf: "red" } });
    expect(other.json.code).toBe("idempotency_key_reused");
  });

  test("is refused with another body or query", async () => {
    await create("a");
    const other = await create("a", { ...rex, status: "sold" });
    expect([other.status, other.json.code, isReplay(other)]).toEqual([422, "idempotency_key_reused", false]);
    expect((await send("b", "/outcomes/x?variant=good", { end: "success" })).status).toBe(200);
    for (const query of ["", "?variant=bad"]) {
      expect((await send("b", `/outcomes/x${query}`, { end: "success" })).status).toBe(422);
    }
    expect(isReplay(await send("b", "/outcomes/x?variant=good", { end: "success" }))).toBe(true);
    expect(await animals()).toBe(2);
  });

  test("is refused with another If-Match, or without it", async () => {
    const { json, headers } = await create("a");
    const change = (condition: { ifMatch?: string }) =>
      send("b", `/pets/${json.id}`, { status: "sold" }, { method: "PATCH", ...condition });
    const first = { ifMatch: headers.get("etag") as string };
    const replies = [await change(first), await change({}), await change({ ifMatch: "*" }), await change(first)];
    expect(replies.map((reply) => [reply.status, isReplay(reply)])).toEqual([
      [200, false],
      [422, false],
      [422, false],
      [200, true],
    ]);
  });

  test("is another request with another Idempotency-Key, account, path or method", async () => {
    const foreignKey = await service.newKey();
    const replies = [
      await create("a"),
      await create("b"),
      await send("a", "/pets", rex, { key: foreignKey }),
      await send("a", "/outcomes/x", { end: "success" }),
      await send("a", "/outcomes/y", { end: "success" }),
      await send("a", "/categories", { name: "Dogs", id: 7 }),
      await send("a", "/categories/7", { name: "Cats" }, { method: "PATCH" }),
    ];
    expect(replies.map((reply) => [reply.status < 300, isReplay(reply)])).toEqual(replies.map(() => [true, false]));
    expect(isReplay(await send("a", "/categories/7", { name: "Cats" }, { method: "PATCH" }))).toBe(true);
  });

  test("may have another API key of the account", async () => {
    const other = await service.app.keys.issueKey(account.account.id, "other", ["write"], service.clock.now());
    await create("a");
    expect(isReplay(await send("a", "/pets", rex, { key: other.key }))).toBe(true);
  });

  test("returns no body if the first response had none", async () => {
    const replies = [await send("a", "/no-content"), await send("a", "/no-content")];
    expect(replies.map((reply) => [reply.status, reply.text, isReplay(reply)])).toEqual([
      [204, "", false],
      [204, "", true],
    ]);
    expect(await animals()).toBe(1);
  });

  test("returns the same response after a restart, with links to the new base address", async () => {
    const first = await create("a");
    service = await service.restart();
    const again = await create("a");
    expect([isReplay(again), again.text]).toEqual([true, first.text]);
    expect(again.headers.get("location")).toBe(`${service.app.base}/pets/1`);
  });

  test("is a new request after 24 hours", async () => {
    await create("a");
    service.clock.advance(24 * HOUR_MS - 1);
    expect(isReplay(await create("a"))).toBe(true);
    service.clock.advance(1);
    expect(isReplay(await create("a"))).toBe(false);
    expect(await animals()).toBe(2);
    service.clock.advance(24 * HOUR_MS - 1);
    expect(isReplay(await create("a"))).toBe(true);
  });
});

describe("an Idempotency-Key", () => {
  shareService();

  test.each([
    ["a-b", '"a-b"'],
    ["x", '"x"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ["k".repeat(255), `"${"k".repeat(255)}"`],
  ])("%s may be in quotes", async (bare, quoted) => {
    await create(bare);
    expect(isReplay(await create(quoted))).toBe(true);
  });

  test.each([
    "",
    "k".repeat(256),
    "a b",
    '"',
    '""',
    '"a',
    'a"b" c',
    '"a"b"',
    '"a\\b"',
    '"a";p=1',
    `"${"k".repeat(256)}"`,
    "é",
    "a, b",
    "a\tb",
  ])("%j is refused, with all other faults", async (name) => {
    const { status, json } = await create(name, { categoryId: 1 });
    expect([status, json.code]).toEqual([400, "invalid_request"]);
    expect(json.details.map(({ path }: { path: string }) => path)).toEqual(["/header/Idempotency-Key", "/body/name"]);
  });

  test("is refused if it is sent twice", async () => {
    const body = JSON.stringify(rex);
    const lines = [
      "POST /v1/pets HTTP/1.1",
      "Host: petstore",
      `Authorization: Bearer ${key}`,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
      "Connection: close",
      "Idempotency-Key: a",
      "Idempotency-Key: a",
    ];
    const [answer] = await exchange(service.app.port, `${lines.join("\r\n")}\r\n\r\n${body}`);
    expect([answer?.status, answer?.text]).toEqual([400, expect.stringContaining("/header/Idempotency-Key")]);
  });

  test("is ignored by operations that are idempotent anyway", async () => {
    const { json } = await send("a", "/categories", { name: "Dogs" });
    const repeated = [
      await send("a b", `/categories/${json.id}`, undefined, { method: "GET" }),
      await send("a", `/categories/${json.id}`, undefined, { method: "DELETE" }),
      await send("a", `/categories/${json.id}`, undefined, { method: "DELETE" }),
    ];
    expect(repeated.map(({ status }) => status)).toEqual([200, 204, 404]);
  });

  test("is not stored", async () => {
    const name = "order-of-the-tall-lady-42";
    await create(name, { ...rex, name: "Hector" });
    const contents = await service.store.contents();
    expect(contents).toContain("Hector");
    expect(contents).not.toContain(name);
    await service.app.log.close();
    expect(service.logLines.join("")).not.toContain(name);
  });
});

describe("a response is", () => {
  startEachTime();

  test("stored if the operation returns an error", async () => {
    const first = await send("a", "/outcomes/x", { end: "refusal" });
    const again = await send("a", "/outcomes/x", { end: "refusal" });
    expect([first.status, isReplay(first), isReplay(again)]).toEqual([409, false, true]);
    expect(essence(again)).toEqual(essence(first));
    expect(await animals()).toBe(1);
  });

  test.each([
    ["unavailable", 503, 1],
    ["failure", 500, 0],
    ["undeclared", 500, 0],
  ])("not stored for 503 or 500: %s", async (end, status, added) => {
    for (const round of [1, 2]) {
      const reply = await send("a", "/outcomes/x", { end });
      expect([reply.status, isReplay(reply)]).toEqual([status, false]);
      expect(await animals()).toBe(added * round);
    }
    expect((await send("a", "/outcomes/x", { end: "success" })).status).toBe(200);
  });

  test("not stored for an error before the operation", async () => {
    const reader = await service.app.keys.issueKey(account.account.id, "reader", ["read"], service.clock.now());
    const { key: poor } = await service.newAccountWithKey("enterprise", { perMinute: 1, perDay: 10 });
    const headers = { "Idempotency-Key": "a" };
    const refusals = [
      await create("a", { name: "Rex" }),
      await create("a", "{"),
      await create("a", { name: "x".repeat(70_000) }),
      await service.call("POST", "/pets?x=1", { key, headers, body: rex }),
      await service.call("POST", "/pets", { key, headers: { ...headers, "Content-Type": "text/plain" }, body: "x" }),
      await service.call("POST", "/pets", { key: "wrong", headers, body: rex }),
      await send("a", "/pets", rex, { key: reader.key }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([400, 400, 413, 400, 415, 401, 403]);
    expect(await storedResponses()).toEqual([]);
    const first = await create("a");
    expect([first.status, isReplay(first)]).toEqual([201, false]);

    expect((await send("a", "/pets", rex, { key: poor })).status).toBe(201);
    expect((await send("a", "/pets", rex, { key: poor })).status).toBe(429);
    service.clock.advance(60_000);
    expect(isReplay(await send("a", "/pets", rex, { key: poor }))).toBe(true);
  });

  test("returned again only to a key that is still allowed to send the request", async () => {
    const { keys } = service.app;
    const reader = await keys.issueKey(account.account.id, "reader", ["read"], service.clock.now());
    await create("a");
    expect((await send("a", "/pets", rex, { key: reader.key })).json.code).toBe("insufficient_scope");
    await keys.revokeKey(account.record.id, service.clock.now());
    expect((await create("a")).json.code).toBe("invalid_api_key");
  });

  test("not stored for a key that was revoked in between: another key gets its own", async () => {
    const other = await service.app.keys.issueKey(account.account.id, "other", [...scopes], service.clock.now());
    const limit = (by: string) =>
      send("a", `/keys/${other.record.id}`, { limitPerMinute: 9 }, { key: by, method: "PATCH" });
    await animals(); // the process knows the key from here on, and does not notice the next line
    await service.store.run(`UPDATE api_keys SET revoked_at = 1 WHERE id = '${account.record.id}'`);
    const replies = [await limit(key), await limit(other.key)];
    expect(replies.map((reply) => [reply.status, isReplay(reply)])).toEqual([
      [401, false],
      [200, false],
    ]);
  });

  test("deleted after 24 hours", async () => {
    for (const name of ["a", "b", "c"]) await create(name);
    service.clock.advance(24 * HOUR_MS - 1);
    await create("d");
    service.clock.advance(1);
    expect(
      await eventually(
        async () => (await storedResponses()).length,
        (left) => left === 1,
      ),
    ).toBe(1);
  });

  test("deleted in parts, oldest first, if many have expired", async () => {
    const storage = await service.store.open();
    let now = service.clock.now(); // for the service that runs next to it, nothing has expired
    const store = new StoredResponseStore(storage, { now: () => now as ExpiryTime });
    const shop = await service.shop(account.account.id);
    const count = 11_200;
    await storage.write(function* () {
      for (let time = 0; time < count; time++)
        yield* store.add(shopNumber(shop), `name ${time}`, { fingerprint: "", response: "" }, now + time);
    });
    now += 24 * HOUR_MS + count - 2;
    const left: [number, string | undefined][] = [];
    for (let round = 0; round < 3; round++) {
      await store.deleteExpired();
      const rows = (await storedResponses()).map(({ digest }) => Number(digest.slice(5)));
      left.push([rows.length, String(Math.min(...rows))]);
    }
    expect(left).toEqual([
      [1_200, "10000"],
      [1, "11199"],
      [1, "11199"],
    ]);
    await storage.close();
  });
});

describe("while the first request is in progress", () => {
  startEachTime();

  test("others get an error that says so, and one animal is added", async () => {
    const unlock = await service.store.lock(); // otherwise the first may be done before the others arrive
    const sent = Array.from({ length: 50 }, () => create("a"));
    await Promise.race(sent);
    await unlock();
    const replies = await Promise.all(sent);
    const news = replies.filter((reply) => reply.status === 201 && !isReplay(reply));
    expect(news).toHaveLength(1);
    for (const reply of replies) {
      if (reply.status === 201) expect(essence(reply)).toEqual(essence(news[0] as TestResponse));
      else
        expect([reply.status, reply.json.code, reply.headers.get("retry-after")]).toEqual([
          409,
          "idempotency_key_in_use",
          "1",
        ]);
    }
    expect(replies.some(({ status }) => status === 409)).toBe(true);
    expect(isReplay(await create("a"))).toBe(true);
    expect(await animals()).toBe(1);
  });

  test("in another process, the store decides", async () => {
    const other = await TestService.start({ store: service.store, clock: service.clock });
    for (let round = 0; round < 20; round++) {
      const call = { key, headers: { "Idempotency-Key": `round-${round}` }, body: rex };
      const replies = await Promise.all([service, other, service, other].map((one) => one.call("POST", "/pets", call)));
      const successes = replies.filter(({ status }) => status === 201);
      expect(new Set(successes.map(({ text }) => text)).size).toBe(1);
      expect(successes.filter((reply) => !isReplay(reply))).toHaveLength(1);
      expect(replies.every(({ status }) => status === 201 || status === 409)).toBe(true);
    }
    expect(await animals()).toBe(20);
    await other.app.stop();
  });

  test("requests of another account, or of the other mode of the account, do not wait", async () => {
    await service.stop();
    service = await TestService.start({ settings: { PETSTORE_ENV: "production" } });
    const [one, other] = [await service.newAccountWithKey("business"), await service.newAccountWithKey("business")];
    const sandbox = await service.app.keys.issueKey(one.account.id, "sandbox", ["write"], service.clock.now(), "test");
    const owners = [one.key, sandbox.key, other.key];
    for (let round = 0; round < 20; round++) {
      const replies = await Promise.all(owners.map((owner) => send(`round-${round}`, "/pets", rex, { key: owner })));
      expect(replies.map((reply) => [reply.status, isReplay(reply)])).toEqual(owners.map(() => [201, false]));
    }
  });

  test("a retry gets a response that came after the deadline", async () => {
    const unlock = await service.store.lock();
    const late = create("a");
    await untilWaiting(service.app.base, 1);
    if (onPostgres) await lockAwaited(service.store); // before, it waits to know its key
    service.clock.advance(RESPONSE_TIMEOUT);
    const retry = create("a"); // at once: on PostgreSQL, a transaction waits for a lock for seconds only
    expect((await late).json.code).toBe("storage_unavailable");
    expect((await retry).json.code).toBe("idempotency_key_in_use");
    await unlock();
    await untilWaiting(service.app.base, 0);
    const again = await create("a");
    expect([again.status, isReplay(again)]).toEqual([201, true]);
    expect(await animals()).toBe(1);
  });
});

/** Replaces the service with one on a store that can fail. */
async function startOnDistantStore(): Promise<DistantStorage> {
  await service.stop();
  let storage: DistantStorage | undefined;
  service = await TestService.start({
    openStore: async (config, ...rest) => (storage = new DistantStorage(await openStorage(config, ...rest))),
  });
  key = await service.newKey();
  return storage as DistantStorage;
}

describe("after a failure", () => {
  startEachTime();

  test("of the store, nothing is stored: a later retry succeeds, once", async () => {
    const storage = await startOnDistantStore();
    storage.writesLeft = 0;
    for (let round = 0; round < 3; round++) {
      const refused = await create("a");
      expect([refused.json.code, isReplay(refused)]).toEqual(["storage_unavailable", false]);
    }
    storage.writesLeft = Number.POSITIVE_INFINITY;
    const replies = [await create("a"), await create("a")];
    expect(replies.map((reply) => [reply.status, isReplay(reply)])).toEqual([
      [201, false],
      [201, true],
    ]);
    expect(await animals()).toBe(1);
  });

  test("in a fast-forward, a retry completes it, and it is then not done again", async () => {
    await service.stop();
    const done: number[] = [];
    let failures = 2;
    const owner = defineDomain({
      name: "unreliable",
      operations: [],
      open: ({ hasDueTimes }) => {
        hasDueTimes({
          *waiting() {
            return [];
          },
          finish: async (_, __, most) => {
            if (failures-- > 0) throw new StorageUnavailable("Of the test.");
            done.push(most);
          },
        });
        return [];
      },
    });
    service = await TestService.start({ domains: [...domains, owner] });
    key = await service.newKey();
    for (let round = 0; round < 2; round++) {
      const failed = await forward("a");
      expect([failed.json.code, isReplay(failed)]).toEqual(["storage_unavailable", false]);
    }
    const replies = [await forward("a"), await forward("a"), await forward("a")];
    expect(replies.map((reply) => [reply.status, isReplay(reply)])).toEqual([
      [200, false],
      [200, true],
      [200, true],
    ]);
    for (const reply of replies) expect(essence(reply)).toEqual(essence(replies[0] as TestResponse));
    expect(done).toHaveLength(1);
  });
});

describe("a response with a secret", () => {
  startEachTime();

  test("is returned again only to the client that received it", async () => {
    const other = await service.app.keys.issueKey(account.account.id, "other", ["write"], service.clock.now());
    const first = await send("a", "/secrets");
    const again = await send("a", "/secrets");
    expect([first.status, isReplay(again), essence(again)]).toEqual([201, true, essence(first)]);
    const foreign = await send("a", "/secrets", undefined, { key: other.key });
    expect([foreign.status, foreign.json.code]).toEqual([422, "idempotency_key_reused"]);
    expect(await animals()).toBe(1);
  });

  test("is encrypted in the store", async () => {
    const { json } = await send("a", "/secrets");
    await service.app.stop();
    const contents = await service.store.contents();
    const stored = (await storedResponses())[0]?.response as string;
    for (const text of [contents, Buffer.from(stored, "base64").toString("latin1")]) {
      expect(text).not.toContain(json.secret);
      expect(text).not.toContain("secret-");
    }
    service = await service.restart();
    expect((await send("a", "/secrets")).json).toEqual(json);
  });
});
