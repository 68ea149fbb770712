// The header Petstore-Simulate: what it may hold, who may send it, and what it must leave alone.
import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MAX_DELAY, MAX_DELAYED, SIMULATE } from "../../src/contract/requests.ts";
import { metric as metricOf } from "../harness/metrics.ts";
import { eventually } from "../harness/program.ts";
import { exchange } from "../harness/raw-http.ts";
import { type TestResponse, TestService } from "../harness/service.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";

let service: TestService;
afterEach(() => service.stop());

function ask(key: string | undefined, asked: string, method = "GET", path = "/pets"): Promise<TestResponse> {
  return service.call(method, path, { key, headers: { [SIMULATE]: asked } });
}

const metric = (name: string) => metricOf(service.app.base, name);
/** Waits until this number of responses are delayed. */
const delayed = (count: number) => eventually(() => service.app.controls.delays.size === count);

function lines(event: string) {
  return service.logLines.map((line) => JSON.parse(line)).filter((line) => line.event === event);
}

const pathInDetails = `/header/${SIMULATE}`;

const refusals: readonly (readonly [asked: string, reason: string])[] = [
  ["pet_not_fond", "did you mean pet_not_found?"],
  ["PET_NOT_FOUND", "did you mean pet_not_found?"],
  ["disconect", "did you mean disconnect?"],
  ["order_not_fund", "did you mean order_not_found?"],
  ["teapot", "must hold an error code, disconnect or delay=2000"],
  ["", "must hold an error code, disconnect or delay=2000"],
  ["pet_not_found,", "must hold an error code, disconnect or delay=2000"],
  ["404", "must hold an error code, disconnect or delay=2000"],
  ["__proto__", "must hold an error code, disconnect or delay=2000"],
  ["order_not_found", "names order_not_found, which is no error of this operation; it has pet_not_found, "],
  ["path_not_found", "names path_not_found, which is no error of this operation"],
  ["delay", "must have the delay as delay=2000"],
  ["delay=", "must have the delay as delay=2000"],
  ["delay=-1", "must have the delay as delay=2000"],
  ["delay=1.5", "must have the delay as delay=2000"],
  ["delay=1e3", "must have the delay as delay=2000"],
  [`delay=${MAX_DELAY + 1}`, "at most 10000"],
  ["delay=99999999999999999999", "at most 10000"],
  ["delay=1, delay=2", "at most one delay"],
  ["pet_not_found, overloaded", "at most one error code or disconnect"],
  ["pet_not_found, disconnect", "at most one error code or disconnect"],
  ["delay=1, pet_not_found, overloaded", "at most one error code or disconnect"],
];

test("an impossible simulation is rejected with a reason", async () => {
  service = await TestService.start();
  const key = await service.newKey();
  for (const [asked, reason] of refusals) {
    const { status, json } = await ask(key, asked, "GET", "/pets/1");
    expect([asked, status, json.code]).toEqual([asked, 400, "invalid_request"]);
    expect([asked, json.details]).toEqual([asked, [{ path: pathInDetails, message: expect.stringContaining(reason) }]]);
  }
  expect((await ask(key, "a,".repeat(4_000))).json.details).toHaveLength(3);
  expect(service.app.controls.delays.size).toBe(0);
});

test("a live key that sends the header is rejected, and nothing is done", async () => {
  service = await TestService.start({ settings: { PETSTORE_ENV: "production" } });
  const { key } = await service.newAccountWithKey("business", undefined, ["read", "write"], "live");
  const headers = { [SIMULATE]: "delay=10000, overloaded" };
  const { status, json } = await service.call("POST", "/pets", { key, headers, body: { name: "Rex", categoryId: 1 } });
  expect([status, json.code, json.details]).toEqual([
    400,
    "invalid_request",
    [{ path: pathInDetails, message: "is for test keys only, and this key is live; nothing was done" }],
  ]);
  expect((await service.call("GET", "/pets", { key })).json).toEqual([]);
});

test("the header is ignored without a valid key, without the scope, or on an unknown path", async () => {
  service = await TestService.start();
  const reader = await service.newKey("free", undefined, ["read"]);
  const outcomes = [
    await ask(undefined, "internal_error"),
    await ask("psk_test_nobody", "disconnect"),
    await ask(reader, "internal_error", "DELETE", "/pets/1"),
    await ask(reader, "internal_error", "GET", "/nowhere"),
    await ask(reader, "internal_error", "PUT", "/pets"),
  ].map(({ json }) => json.code);
  const expected = ["missing_api_key", "invalid_api_key", "insufficient_scope", "path_not_found", "method_not_allowed"];
  expect(outcomes).toEqual(expected);
});

test("a simulated response counts as a request: in the windows, the usage, the metrics and the log", async () => {
  service = await TestService.start();
  const { key, account } = await service.newAccountWithKey("free", undefined, ["read"]);
  const first = await ask(key, "internal_error");
  expect([first.status, first.headers.get("x-ratelimit-remaining")]).toEqual([500, "59"]);
  expect((await ask(key, "invalid_api_key")).headers.get("x-ratelimit-remaining")).toBe("58");
  expect(await metric('petstore_requests_total{operation="listPets",status="simulated"}')).toBe(2);
  // Who watches the service must not see failures that are none.
  expect(await metric('petstore_requests_total{operation="listPets",status="500"}')).toBe(0);
  expect(await metric('petstore_requests_failed_total{operation="listPets",code="internal_error"}')).toBe(0);
  expect(await metric("petstore_invalid_keys_total")).toBe(0);
  const usage = await service.call("GET", "/usage", { key });
  expect(usage.json[0].operations).toEqual([
    { operation: "listPets", status: 401, requests: 1 },
    { operation: "listPets", status: 500, requests: 1 },
  ]);
  await service.app.log.close();
  expect(lines("request").slice(0, 2)).toMatchObject([
    { status: 500, code: "internal_error", accountId: account.id, simulated: "internal_error" },
    { status: 401, code: "invalid_api_key", accountId: account.id, simulated: "invalid_api_key" },
  ]);
  expect(lines("request_failed")).toEqual([]);
});

/** The status, limit, requests left, reset and time to wait of a response. */
function limitsOf({ status, headers }: TestResponse): number[] {
  const names = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"];
  return [status, ...names.map((name) => Number(headers.get(name)))];
}

test("a simulated limit or ban has the headers of a real one, and does not affect the key", async () => {
  service = await TestService.start();
  const key = await service.newKey("free");
  await service.call("GET", "/pets", { key });
  service.clock.advance(18_000);
  const now = service.clock.now() / 1000;
  for (let count = 0; count < 25; count++) {
    const limited = await ask(key, "rate_limit_exceeded");
    const banned = await ask(key, "key_banned");
    expect([limitsOf(limited), limitsOf(banned)]).toEqual([
      [429, 60, 0, now + 42, 42],
      [429, 60, 0, now + 60, 60],
    ]);
  }
  const { json } = await service.call("GET", "/key", { key });
  expect([json.strikes.count, json.ban]).toEqual([0, undefined]);
  const next = await service.call("GET", "/pets", { key });
  expect([next.status, next.headers.get("x-ratelimit-remaining")]).toEqual([200, "8"]);
  expect(await metric('petstore_requests_limited_total{by="account"}')).toBe(0);
  expect(await metric("petstore_requests_banned_total")).toBe(0);
  await service.app.log.close();
  expect(lines("ban_started")).toEqual([]);
});

test("a simulated error has the Retry-After that a real one usually has", async () => {
  service = await TestService.start();
  const key = await service.newKey("enterprise", undefined, ["read", "admin"]);
  const wait = async (code: string, path: string) => (await ask(key, code, "GET", path)).headers.get("retry-after");
  expect([
    await wait("storage_unavailable", "/pets"),
    await wait("too_many_streams", "/events/stream"),
    await wait("webhooks_unavailable", "/webhook-endpoints"),
    await wait("pet_not_found", "/pets/1"),
  ]).toEqual(["1", "5", "60", null]);
});

test("a key that is really limited gets the real limit, whatever it simulates", async () => {
  service = await TestService.start();
  const key = await service.newKey("enterprise", { perMinute: 1, perDay: 10 });
  expect((await ask(key, "pet_not_found", "GET", "/pets/1")).status).toBe(404);
  const { status, json } = await ask(key, "pet_not_found", "GET", "/pets/1");
  expect([status, json.message.startsWith("Simulated")]).toEqual([429, false]);
});

test("a simulated error is not stored for retries", async () => {
  service = await TestService.start();
  const key = await service.newKey();
  const send = (headers: Record<string, string>) =>
    service.call("POST", "/pets", {
      key,
      headers: { "Idempotency-Key": "again", ...headers },
      body: { name: "Rex", categoryId: 1 },
    });
  expect((await send({ [SIMULATE]: "storage_unavailable" })).status).toBe(503);
  const sent = await send({});
  expect([sent.status, sent.json.id, sent.headers.get("idempotent-replayed")]).toEqual([201, 1, null]);
});

test("a delay holds back the response, but the request is executed at once", async () => {
  service = await TestService.start();
  const key = await service.newKey();
  let isAnswered = false;
  const body = { name: "Rex", categoryId: 1 };
  const adding = service
    .call("POST", "/pets", { key, headers: { [SIMULATE]: `delay=${MAX_DELAY}` }, body })
    .finally(() => (isAnswered = true));
  // A list shows the animal earlier: while its commit is being synced, which the deadline of the request includes.
  await eventually(async () => (await metric('petstore_requests_total{operation="createPet",status="201"}')) === 1);
  expect((await service.call("GET", "/pets", { key })).json).toHaveLength(1);
  expect(isAnswered).toBe(false);
  const shorter = ask(key, `delay=${MAX_DELAY - 1}`);
  await delayed(2);
  service.clock.advance(MAX_DELAY - 1);
  await shorter;
  expect(isAnswered).toBe(false);
  service.clock.advance(1);
  expect((await adding).status).toBe(201); // and not 503, although the deadline of requests has passed
  expect(service.app.controls.delays.size).toBe(0);
  expect(await metric('petstore_requests_total{operation="createPet",status="201"}')).toBe(1);
  await service.app.log.close();
  const added = lines("request").find(({ operation }) => operation === "createPet");
  expect(added).toMatchObject({ status: 201, simulated: `delay=${MAX_DELAY}` });
});

test("a delay can be combined with an error or a closed connection, in any order", async () => {
  service = await TestService.start();
  const key = await service.newKey();
  const failing = ask(key, "delay=2000,pet_not_found", "GET", "/pets/1");
  const target = `GET ${new URL(service.app.base).pathname}/pets HTTP/1.1`;
  const headers = [
    "Host: petstore",
    `Authorization: Bearer ${key}`,
    `${SIMULATE}: disconnect`,
    `${SIMULATE}: delay=2000`,
  ];
  const closed = exchange(service.app.port, `${[target, ...headers].join("\r\n")}\r\n\r\n`);
  await delayed(2);
  service.clock.advance(2_000);
  expect((await failing).json.code).toBe("pet_not_found");
  expect(await closed).toEqual([]);
  await service.app.log.close();
  expect(lines("request").find(({ status }) => status === 444)).toMatchObject({
    code: "disconnect",
    simulated: "disconnect, delay=2000",
  });
});

test("a closed connection cannot be simulated with HEAD, because it would come too late", async () => {
  service = await TestService.start();
  expect((await ask(await service.newKey(), "disconnect", "HEAD")).status).toBe(400);
});

test("an account can have few delays at once, and another account has its own", async () => {
  service = await TestService.start();
  const [key, other] = [await service.newKey(), await service.newKey("enterprise", unlimitedQuota)];
  const responses = Array.from({ length: MAX_DELAYED }, () => ask(key, "delay=5000"));
  await delayed(MAX_DELAYED);
  const refused = await ask(key, "delay=5000, overloaded");
  expect([refused.status, refused.json.details[0].message]).toEqual([
    400,
    `must have no delay while ${MAX_DELAYED} responses to the account are delayed`,
  ]);
  expect((await ask(key, "internal_error")).status).toBe(500);
  const ofOther = ask(other, "delay=1000");
  await delayed(MAX_DELAYED + 1);
  service.clock.advance(1_000);
  expect((await ofOther).status).toBe(200);
  service.clock.advance(4_000);
  expect((await Promise.all(responses)).map(({ status }) => status)).toEqual(Array(MAX_DELAYED).fill(200));
});

test("a client that disconnects during its delay does no harm", async () => {
  service = await TestService.start();
  const key = await service.newKey();
  const leaving = new AbortController();
  const call = { key, headers: { [SIMULATE]: "delay=5000" }, signal: leaving.signal };
  const left = service.call("GET", "/pets", call);
  await delayed(1);
  leaving.abort();
  expect(await left.catch(({ name }: Error) => name)).toBe("AbortError");
  service.clock.advance(5_000);
  await delayed(0);
  expect((await service.call("GET", "/pets", { key })).status).toBe(200);
});

test("a service that stops ends all delays", async () => {
  service = await TestService.start();
  const key = await service.newKey();
  const responses = [ask(key, "delay=10000"), ask(key, "delay=10000, overloaded")];
  await delayed(2);
  service = await service.restart();
  expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([200, 503]);
});

test("the commands of docs/simulating-errors.md do what the page describes", async () => {
  service = await TestService.start();
  const key = await service.newKey();
  const page = readFileSync(join(import.meta.dir, "../../docs/simulating-errors.md"), "utf8");
  const shown = [...page.matchAll(/```json\n(.*)\n```/g)].map(([, json = ""]) => JSON.parse(json));
  const results = [];
  for (const [, command = ""] of page.matchAll(/```sh\n([^]*?)```/g)) {
    const here = command.replace("http://127.0.0.1:8080/v1", service.app.base);
    const child = Bun.spawn(["sh", "-c", here], { env: { ...process.env, KEY: key }, stderr: "ignore" });
    const text = await new Response(child.stdout).text();
    results.push((await child.exited) === 0 ? JSON.parse(text) : "no response");
  }
  expect(results).toEqual([...shown, "no response", { id: 1, name: "Ida", categoryId: 1 }]);
  expect((await service.call("GET", "/pets", { key })).json).toHaveLength(1);
});
