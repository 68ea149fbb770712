// Requests that do not get on: their body does not come, or the store does not answer. The service's
// clock is moved, so that nobody waits for the deadline.
import { afterEach, describe, expect, test } from "bun:test";
import { openStorage } from "../../src/app/store/engines.ts";
import { RESPONSE_TIMEOUT } from "../../src/contract/requests.ts";
import { waitFor } from "../../src/storage/transaction.ts";
import { DistantStorage } from "../harness/distant-storage.ts";
import { DocumentCheck } from "../harness/document-check.ts";
import { metric, untilMetric } from "../harness/metrics.ts";
import { serviceWith } from "../harness/pets-domain.ts";
import { exchange, type RawResponse } from "../harness/raw-http.ts";
import { type TestResponse, TestService } from "../harness/service.ts";

let service: TestService;
afterEach(() => service.stop());

/** The head of a request that adds an animal; it does not ask to close the connection. */
function createHead(framing: string, authorization: string): string {
  const lines = ["POST /v1/pets HTTP/1.1", "Host: petstore", authorization, "Content-Type: application/json", framing];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

const bearer = (key: string) => `Authorization: Bearer ${key}`;

/** Moves the clock to the deadline of a request once the service waits with it. */
async function passDeadline(): Promise<void> {
  await untilMetric(service.app.base, "petstore_requests_pending", 1);
  service.clock.advance(RESPONSE_TIMEOUT);
}

async function checkDocument({ status, headers, text }: RawResponse): Promise<void> {
  const document = await (await fetch(new URL("/openapi.json", service.app.base))).json();
  DocumentCheck.of(document).check({ method: "POST", path: "/pets", status, headers, text });
}

/** The log's lines of requests, as status by request id. */
function loggedRequests(): [string, number][] {
  return service.logLines
    .map((line) => JSON.parse(line) as { event: string; requestId: string; status: number })
    .filter(({ event }) => event === "request")
    .map(({ requestId, status }) => [requestId, status]);
}

/** A chunked body that never ends, after the head of its request. */
function* endless(head: string) {
  yield head;
  for (;;) yield `3e80\r\n${" ".repeat(16_000)}\r\n`;
}

describe("a body that does not arrive in time", () => {
  test.each([
    ["with a length", "Content-Length: 100", '{"name":"Rex"'],
    ["with a length, of which nothing comes", "Content-Length: 100", ""],
    ["in chunks", "Transfer-Encoding: chunked", '7\r\n{"name"\r\n'],
    ["in chunks, of which nothing comes", "Transfer-Encoding: chunked", ""],
  ])("%s, returns 408 and closes the connection", async (_how, framing, begun) => {
    service = await TestService.start();
    const key = await service.newKey("free");
    const responses = exchange(service.app.port, createHead(framing, bearer(key)) + begun);
    await passDeadline();
    const [response, ...others] = await responses; // the end of the connection
    expect(others).toEqual([]);
    const { status, headers, text } = response as RawResponse;
    expect([status, (JSON.parse(text) as { code: string }).code]).toEqual([408, "request_timeout"]);
    expect([headers.get("connection"), headers.get("x-ratelimit-remaining")]).toEqual(["close", "59"]);
    await checkDocument(response as RawResponse);
    expect((await service.call("GET", "/pets", { key })).json).toEqual([]);
    expect(await metric(service.app.base, 'petstore_requests_timed_out_total{awaiting="body"}')).toBe(1);
    expect(await metric(service.app.base, "petstore_requests_waiting")).toBe(0);
    await service.app.log.close();
    expect(loggedRequests()).toEqual([
      [headers.get("x-request-id") as string, 408],
      [expect.any(String) as unknown as string, 200],
    ]);
  });
});

describe("a store that does not respond in time", () => {
  const late = { body: { id: 1n, name: "Rex", categoryId: 1n } };

  test.each([
    ["succeeds", (resolve: (value: typeof late) => void) => resolve(late), []],
    ["fails", (_resolve: unknown, reject: (error: Error) => void) => reject(new Error("late")), ["request_failed"]],
  ] as const)("returns 503, also if it later %s", async (_what, settle, errors) => {
    const { promise, resolve, reject } = Promise.withResolvers<typeof late>();
    service = await serviceWith(() => waitFor(promise));
    const key = await service.newKey();
    const call: Promise<TestResponse> = service.call("GET", "/pets/1", { key });
    await passDeadline();
    const { status, json, headers } = await call;
    expect([status, json.code, headers.get("retry-after")]).toEqual([503, "storage_unavailable", "5"]);
    expect(json.message).toBe("The store did not respond in time."); // a read changes nothing
    expect(headers.get("connection")).not.toBe("close");
    expect(await metric(service.app.base, "petstore_requests_waiting")).toBe(1); // the store is still at it
    settle(resolve, reject);
    expect(await metric(service.app.base, "petstore_requests_waiting")).toBe(0);
    expect(await metric(service.app.base, 'petstore_requests_timed_out_total{awaiting="store"}')).toBe(1);
    await service.app.log.close();
    expect(loggedRequests()).toEqual([[headers.get("x-request-id") as string, 503]]);
    const logged = service.logLines.map((line) => JSON.parse(line) as { level: string; event: string });
    expect(logged.filter(({ level }) => level === "error").map(({ event }) => event)).toEqual([...errors]);
  });

  test("does nothing if only the key of a change was looked up", async () => {
    const stores: DistantStorage[] = [];
    service = await TestService.start({
      openStore: async (...args) => {
        const storage = new DistantStorage(await openStorage(...args));
        stores.push(storage);
        return storage;
      },
    });
    const [storage] = stores as [DistantStorage];
    const key = await service.newKey();
    const { promise, resolve } = Promise.withResolvers<void>();
    storage.readsAfter = promise;
    const call = service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1 } });
    await passDeadline();
    const { status, json } = await call;
    expect([status, json.message]).toEqual([503, "The store did not respond in time."]);
    resolve();
    storage.readsAfter = undefined;
    expect((await service.call("GET", "/pets", { key })).json).toEqual([]);
  });
});

describe("a body that is too large to be drained", () => {
  test.each([
    ["is too large", 413, "Transfer-Encoding: chunked", (key: string) => bearer(key)],
    ["is too large by its length", 413, "Content-Length: 100000000", (key: string) => bearer(key)],
    ["has no API key", 401, "Transfer-Encoding: chunked", () => "X-Nobody: yes"],
    ["has no API key, by its length", 401, "Content-Length: 100000000", () => "X-Nobody: yes"],
    ["has another type", 415, "Transfer-Encoding: chunked", (key: string) => `${bearer(key)}\r\nContent-Type: text/x`],
  ])("closes the connection if it %s (%d)", async (_why, status, framing, authorization) => {
    service = await TestService.start();
    const responses = await exchange(
      service.app.port,
      endless(createHead(framing, authorization(await service.newKey()))),
    );
    expect(responses.map((response) => [response.status, response.headers.get("connection")])).toEqual([
      [status, "close"],
    ]);
    await checkDocument(responses[0] as RawResponse);
  });

  test("does not close the connection if it was read completely", async () => {
    service = await TestService.start();
    const headers = { Authorization: `Bearer ${await service.newKey()}`, "Content-Type": "application/json" };
    const outcomes = [];
    for (const body of ["{}", "x".repeat(100_000)]) {
      const init = { method: "POST", headers, body: new Blob([body]).stream() }; // sent in chunks
      const response = await fetch(`${service.app.base}/pets`, init);
      outcomes.push([response.status, response.headers.get("connection") === "close"]);
    }
    expect(outcomes).toEqual([
      [400, false],
      [413, false],
    ]);
  });
});
