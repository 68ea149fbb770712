// What every streamed operation must do, shown with one whose source the test controls.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { domains } from "../../src/app/domains.ts";
import { SIMULATE } from "../../src/contract/requests.ts";
import { MAX_STREAMS } from "../../src/contract/stream.ts";
import { everyOperation } from "../conformance/every-operation.ts";
import { simulatedErrors } from "../conformance/simulated-errors.ts";
import { Listener } from "../harness/listener.ts";
import { metric } from "../harness/metrics.ts";
import { eventually } from "../harness/program.ts";
import { type TestOptions, TestService } from "../harness/service.ts";
import { streamTicks, TickSource, tick } from "../harness/ticks.ts";

const start = (source: TickSource, options: TestOptions = {}) =>
  TestService.start({ ...options, domains: [...domains, source.domain] });

describe("a streamed operation", () => {
  everyOperation([streamTicks], () => start(new TickSource()));
  simulatedErrors([streamTicks], () => start(new TickSource()));
});

describe("a stream", () => {
  const source = new TickSource();
  let service: TestService;
  let key: string;
  const listeners: Listener[] = [];
  beforeAll(async () => {
    service = await start(source);
    key = await service.newKey();
  });
  afterEach(async () => {
    for (const listener of listeners.splice(0)) listener.close();
    await eventually(() => source.sinks.size === 0);
  });
  afterAll(() => service.stop());

  async function listen(headers: Record<string, string> = {}, by = key): Promise<Listener> {
    const listener = await Listener.open(`${service.app.base}/ticks/stream`, by, headers);
    listeners.push(listener);
    return listener;
  }
  const sinks = (many: number) => eventually(() => source.sinks.size === many);
  /** The line of the log about the end of a stream. */
  async function ending({ response }: Listener): Promise<unknown> {
    const id = response.headers.get("x-request-id");
    const isIt = (line: string) => line.includes('"stream_ended"') && line.includes(`"requestId":"${id}"`);
    const line = await eventually(() => service.logLines.find(isIt));
    return JSON.parse(line as string);
  }

  test("begins with the retry time and the id to resume from, and sends each event with its id and name", async () => {
    const listener = await listen({ "Last-Event-ID": "41" });
    source.send(tick(42), { id: 2n ** 63n - 1n, type: "tick.loud", text: "line\nbreak\r\u2028" });
    const { events, retry } = await listener.until(({ events: got }) => got.length === 2);
    expect(retry).toBe(1_000);
    expect(events).toEqual([
      { id: "42", event: "tick.soft", data: '{"id":42,"type":"tick.soft","text":"tick"}' },
      {
        id: "9223372036854775807",
        event: "tick.loud",
        data: '{"id":9223372036854775807,"type":"tick.loud","text":"line\\nbreak\\r\u2028"}',
      },
    ]);
    const resumed = await listen({ "Last-Event-ID": "7" });
    expect((await resumed.until(({ newestId }) => newestId !== "")).newestId).toBe("7");
  });

  test("gives no client an id before its event, or an empty line without one", async () => {
    const listener = await listen({ "Last-Event-ID": "4" });
    for (const id of [5, 6]) {
      await eventually(
        () => {
          service.clock.advance(15_000);
          return listener.state.comments.length;
        },
        (comments) => comments > id - 5,
      );
      source.send(tick(id));
      await listener.until(({ events }) => events.length === id - 4);
    }
    const event = ["event: tick.soft", 'data: {"id":5,"type":"tick.soft","text":"tick"}', "id: 5"];
    const next = event.map((line) => line.replace("5", "6"));
    const silence = ": nothing new";
    const blocks = listener.text.split("\n\n").map((block) => block.split("\n"));
    expect(blocks).toEqual([["retry: 1000", "id: 4", "id: 4", silence, ...event], ["id: 5", silence, ...next], [""]]);
  });

  test("has the headers of every response, and those that prevent buffering in caches and proxies", async () => {
    const { headers } = (await listen()).response;
    expect(headers.get("content-type")).toBe("text/event-stream");
    expect(headers.get("cache-control")).toBe("no-store, no-transform"); // Express holds back what it compresses
    expect(headers.get("x-accel-buffering")).toBe("no");
    expect(headers.get("etag")).toBeNull();
    expect(Number(headers.get("x-ratelimit-remaining"))).toBeGreaterThan(0);
    expect(headers.get("x-request-id")).not.toBeNull();
  });

  /** A request that resumes a stream with the header, the query parameter, or both. */
  const resume = (method: string, header: string | undefined, query: string | undefined) =>
    service.call(method, `/ticks/stream${query === undefined ? "" : `?lastEventId=${query}`}`, {
      key,
      headers: header === undefined ? {} : { "Last-Event-ID": header },
    });

  test.each([
    ["", undefined, undefined],
    ["0", undefined, 0n],
    ["12", undefined, 12n],
    ["", undefined, undefined],
    [undefined, "0", 0n],
    [undefined, "12", 12n],
    ["12", "12", 12n],
    ["", "12", 12n],
  ])("resumes from Last-Event-ID %j and lastEventId %j", async (header, query, at) => {
    source.resumedAt.length = 0;
    expect((await resume("GET", header, query)).status).toBe(200);
    expect(source.resumedAt).toEqual([at]);
  });

  const wrong = ["-1", "x", "1.5", "9223372036854775808", "01"];
  const message = "must hold the id of an event, a whole number";
  const inHeader = { path: "/header/Last-Event-ID", message };
  const inQuery = { path: "/query/lastEventId", message };
  test.each([
    ...wrong.map((id) => [id, undefined, [inHeader]] as const),
    ...[...wrong, ""].map((id) => [undefined, id, [inQuery]] as const),
    ["x", "y", [inHeader, inQuery]],
    ["12", "x", [inQuery]],
    ["12", "13", [{ ...inQuery, message: "must be the same as the header Last-Event-ID if both are sent" }]],
    [undefined, "1&lastEventId=1", [{ ...inQuery, message: "is given more than once" }]],
  ] as const)("returns 400 for Last-Event-ID %j and lastEventId %j", async (header, query, details) => {
    const { status, json } = await resume("GET", header, query);
    expect([status, json.code, json.details]).toEqual([400, "invalid_request", details]);
    expect((await resume("HEAD", header, query)).status).toBe(400);
  });

  test("is in the document with its media type, the schema of its events, and where it can be resumed", async () => {
    type Documented = { responses: Record<string, { content: unknown }>; parameters: Record<string, unknown>[] };
    const document = (await (await fetch(new URL("/openapi.json", service.app.base))).json()) as {
      paths: { "/ticks/stream": { get: Documented } };
    };
    const { responses, parameters } = document.paths["/ticks/stream"].get;
    expect(responses[200]?.content).toEqual({
      "text/event-stream": {
        schema: { $ref: "#/components/schemas/Tick" },
        examples: { "A tick": { value: { id: 1, type: "tick.soft", text: "tick" } } },
      },
    });
    expect(parameters.find(({ name }) => name === "lastEventId")).toMatchObject({ in: "query" });
    expect(parameters).not.toContainEqual({ $ref: "#/components/parameters/IfNoneMatch" });
    expect(Object.keys(responses)).not.toContain("304");
  });

  test("is not opened by HEAD", async () => {
    source.resumedAt.length = 0;
    const { status, headers } = await service.call("HEAD", "/ticks/stream", { key });
    expect([status, headers.get("content-type"), source.sinks.size]).toEqual([200, "text/event-stream", 0]);
  });

  test("ends after an hour", async () => {
    const listener = await listen();
    service.clock.advance(3_599_000);
    source.send(tick(1));
    await listener.until(({ events }) => events.length === 1);
    service.clock.advance(1_000);
    expect(await listener.ended).toBeUndefined();
    expect(await ending(listener)).toMatchObject({
      reason: "max_age",
      operation: "streamTicks",
      seconds: 3_600,
      events: 1,
    });
  });

  test("ends when its key is revoked, and streams of other keys continue", async () => {
    const { key: other, record } = await service.newAccountWithKey("enterprise");
    const [revoked, rest] = [await listen({}, other), await listen()];
    await service.app.keys.revokeKey(record.id, service.clock.now());
    expect(await revoked.ended).toBeUndefined();
    expect(await ending(revoked)).toMatchObject({ reason: "key_invalid", keyId: record.id });
    source.send(tick(1));
    await rest.until(({ events }) => events.length === 1);
  });

  test("ends when its key expires", async () => {
    const { key: other, record } = await service.newAccountWithKey("enterprise");
    const listener = await listen({}, other);
    await service.app.keys.rotateKey(record.id, 5_000, service.clock.now());
    service.clock.advance(5_000);
    expect(await listener.ended).toBeUndefined();
  });

  test("is closed when its client disconnects", async () => {
    const listener = await listen();
    source.send(tick(1));
    await listener.until(({ events }) => events.length === 1);
    listener.close();
    await sinks(0);
    expect(await ending(listener)).toMatchObject({ reason: "client_closed", events: 1 });
  });

  test("is closed when its client disconnects during a simulated delay", async () => {
    const leaving = new AbortController();
    const call = { key, headers: { [SIMULATE]: "delay=500" }, signal: leaving.signal };
    const left = service.call("GET", "/ticks/stream", call);
    await sinks(1);
    leaving.abort();
    expect(await left.catch(({ name }: Error) => name)).toBe("AbortError");
    service.clock.advance(500);
    await sinks(0);
  });

  test("is limited to 100 for each shop, and others can still open some", async () => {
    const { key: many } = await service.newAccountWithKey("enterprise");
    for (let count = 0; count < MAX_STREAMS; count++) await listen({}, many);
    const { status, json, headers } = await service.call("GET", "/ticks/stream", { key: many });
    expect([status, json.code, headers.get("retry-after")]).toEqual([429, "too_many_streams", "5"]);
    expect((await service.call("GET", "/pets", { key: many })).status).toBe(200);
    expect((await listen()).response.status).toBe(200);
    listeners[0]?.close();
    await sinks(MAX_STREAMS);
    expect((await listen({}, many)).response.status).toBe(200);
  });

  test("is closed if its client does not read, and delays no other", async () => {
    const { port } = service.app;
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`GET /v1/ticks/stream HTTP/1.1\r\nHost: petstore\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    });
    const closed = new Promise((resolve) => socket.on("close", resolve).on("error", resolve));
    socket.pause();
    await sinks(1);
    const [slow] = source.sinks;
    const reader = await listen();
    let sent = 0;
    await eventually(
      async () => {
        source.send(tick(++sent, "x".repeat(50_000)));
        await reader.until(({ lastId }) => lastId === String(sent));
        return slow?.isOpen === true && sent < 2_000;
      },
      (isOpen) => !isOpen,
    );
    expect(sent).toBeLessThan(2_000); // otherwise 100 MB wait for a client that does not read
    await eventually(() => service.logLines.some((line) => line.includes('"reason":"slow_client"')));
    expect(reader.ids).toEqual(Array.from({ length: sent }, (_, index) => index + 1));
    await eventually(() => source.sinks.size === 1);
    socket.resume();
    await closed;
  });

  test("an event is serialized once, however many clients receive it", async () => {
    let written = 0;
    const seen = {
      id: 1n,
      type: "tick.soft",
      get text() {
        written++;
        return "tick";
      },
    };
    const all = await Promise.all([listen(), listen(), listen()]);
    await sinks(3);
    source.send(seen);
    for (const listener of all) await listener.until(({ events }) => events.length === 1);
    expect(written).toBe(1);
  });

  test("the number of streams is in the metrics", async () => {
    await listen();
    expect(await metric(service.app.base, "petstore_streams")).toBe(1);
  });
});

test("streams end when the service stops, so that it does not wait for them", async () => {
  const source = new TickSource();
  const service = await start(source);
  const listener = await Listener.open(`${service.app.base}/ticks/stream`, await service.newKey());
  source.send(tick(1));
  const stopped = service.stop();
  expect(await listener.ended).toBeUndefined();
  expect(listener.ids).toEqual([1]);
  await stopped;
});

test("the streams of a sandbox leave those of the live shop their own number", async () => {
  const source = new TickSource();
  const service = await start(source, { settings: { PETSTORE_ENV: "production" } });
  const { account, key: sandbox } = await service.newAccountWithKey("enterprise", undefined, ["read"], "test");
  const { key: live } = await service.app.keys.issueKey(account.id, "till", ["read"], service.clock.now(), "live");
  const open = (key: string) => Listener.open(`${service.app.base}/ticks/stream`, key);
  const listeners = await Promise.all(Array.from({ length: MAX_STREAMS }, () => open(sandbox)));
  expect((await service.call("GET", "/ticks/stream", { key: sandbox })).status).toBe(429);
  const inShop = await open(live);
  expect(inShop.response.status).toBe(200);
  for (const listener of [...listeners, inShop]) listener.close();
  await service.stop();
});

test("a process serves a limited number of streams for all accounts together, and other requests continue", async () => {
  const source = new TickSource();
  const service = await start(source, { maxStreams: 3 });
  const keys = await Promise.all([1, 2].map(async () => (await service.newAccountWithKey("enterprise")).key));
  const open = (key: string | undefined) => Listener.open(`${service.app.base}/ticks/stream`, key as string);
  const listeners = await Promise.all([keys[0], keys[1], keys[0]].map(open));
  for (const key of keys) {
    const { status, json, headers } = await service.call("GET", "/ticks/stream", { key });
    expect([status, json.code, headers.get("retry-after")]).toEqual([503, "streams_exhausted", "5"]);
    expect((await service.call("GET", "/pets", { key })).status).toBe(200);
  }
  source.send(tick(1));
  for (const listener of listeners) await listener.until(({ events }) => events.length === 1);
  listeners.pop()?.close();
  await eventually(() => source.sinks.size === 2);
  const again = await open(keys[1]);
  expect(again.response.status).toBe(200);
  for (const listener of [...listeners, again]) listener.close();
  await service.stop();
});
