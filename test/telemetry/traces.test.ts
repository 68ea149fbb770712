// Traces, as a receiver of OpenTelemetry gets them.
import { describe, expect, test } from "bun:test";
import { ConfigError, readConfig } from "../../src/config.ts";
import { SIMULATE } from "../../src/contract/requests.ts";
import { Log } from "../../src/telemetry/log.ts";
import { Metrics } from "../../src/telemetry/metrics.ts";
import { parseTraceparent, Tracer } from "../../src/telemetry/tracer.ts";
import { version } from "../../src/telemetry/version.ts";
import { systemClock } from "../../src/timing/clock.ts";
import { freePort } from "../harness/free-port.ts";
import { untilMetric } from "../harness/metrics.ts";
import { eventually } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";
import { TraceReceiver } from "../harness/trace-receiver.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";
const sampled = `00-${traceId}-${spanId}-01`;

const nano = (text = "") => BigInt(text);

describe("a request", () => {
  test("is a span named by method and route, which continues the client's trace and contains no key", async () => {
    using receiver = new TraceReceiver();
    const settings = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.address}/`,
      OTEL_EXPORTER_OTLP_HEADERS: "x-receiver-key=a%20b,x-tenant=shop",
    };
    const service = await TestService.start({ settings });
    const { key, account, record } = await service.newAccountWithKey("pro");
    const made = await service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1 } });
    const headers = { traceparent: sampled, "X-Request-Id": "till-7:42" };
    const read = await service.call("GET", `/pets/${made.json.id}?secret=${key}`, { key, headers });
    await service.call("DELETE", `/${key}`, { key });
    await service.stop();

    const [create, ...others] = receiver.spans.filter(({ kind }) => kind === 2);
    expect(create).toMatchObject({
      name: "POST /v1/pets",
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
      attributes: {
        "http.request.method": "POST",
        "http.route": "/v1/pets",
        "http.response.status_code": 201,
        "url.scheme": "http",
        "url.path": "/v1/pets",
        "server.address": "127.0.0.1",
        "server.port": Number(new URL(service.app.base).port),
        "petstore.operation": "createPet",
        "petstore.request.id": made.headers.get("x-request-id"),
        "petstore.account.id": account.id,
        "petstore.key.id": record.id,
      },
    });
    expect(create?.parentSpanId).toBeUndefined();
    expect(others).toMatchObject([
      {
        name: "GET /v1/pets/{petId}",
        traceId,
        parentSpanId: spanId,
        attributes: {
          "http.route": "/v1/pets/{petId}",
          "url.path": "/v1/pets/1",
          "http.response.status_code": read.status,
          "petstore.request.client_id": "till-7:42",
          "petstore.error.code": "invalid_request",
        },
      },
      {
        name: "DELETE",
        attributes: { "http.request.method": "DELETE", "http.response.status_code": 404, "url.path": "/v1/REDACTED" },
      },
    ]);
    expect(others[1]?.attributes).not.toHaveProperty("http.route");

    const commit = receiver.spans.find(({ name }) => name === "handle");
    expect(commit).toMatchObject({ traceId: create?.traceId, parentSpanId: create?.spanId, kind: 1 });
    expect(nano(commit?.startTimeUnixNano)).toBeGreaterThanOrEqual(nano(create?.startTimeUnixNano));
    expect(nano(commit?.endTimeUnixNano)).toBeLessThanOrEqual(nano(create?.endTimeUnixNano));
    expect(nano(create?.endTimeUnixNano)).toBe(BigInt(service.clock.now()) * 1_000_000n);

    expect(receiver.resource["service.name"]).toBe("petstore");
    expect(receiver.resource["service.version"]).toBe(version);
    expect(receiver.batches).not.toBeEmpty();
    for (const { path, headers: sent, text } of receiver.batches) {
      expect([path, sent.get("x-receiver-key")]).toEqual(["/v1/traces", "a b"]);
      expect(text).not.toContain(key.slice(12));
    }
  });

  test("that the client or the sampling leaves out is not recorded", async () => {
    using receiver = new TraceReceiver();
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.address, OTEL_TRACES_SAMPLER_ARG: "0" };
    const service = await TestService.start({ settings });
    const key = await service.newKey();
    for (const traceparent of [`00-${traceId}-${spanId}-00`, "", sampled]) {
      await service.call("GET", "/pets", { key, headers: { traceparent } });
    }
    // Without a valid key, the client does not decide.
    for (const wrong of [undefined, `${key}0`]) {
      await service.call("GET", "/pets", { key: wrong, headers: { traceparent: sampled } });
    }
    await service.stop();
    expect(receiver.spans.map((span) => span.traceId)).toEqual([traceId]);
  });

  test("that fails is marked as an error", async () => {
    using receiver = new TraceReceiver();
    const tracer = newTracer(receiver).tracer;
    tracer.record({}, { ...served, status: 503 });
    await tracer.close();
    expect(receiver.spans).toMatchObject([{ status: { code: 2 }, attributes: { "error.type": "503" } }]);
  });
});

test("a request with a simulated error is not marked as an error", async () => {
  using receiver = new TraceReceiver();
  const service = await TestService.start({ settings: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.address } });
  await service.call("GET", "/pets", { key: await service.newKey(), headers: { [SIMULATE]: "internal_error" } });
  await service.stop();
  const [span] = receiver.spans;
  expect(span).toMatchObject({
    attributes: { "http.response.status_code": 500, "petstore.error.simulated": "true" },
  });
  expect([span?.status?.code, span?.attributes["error.type"]]).toEqual([undefined, undefined]);
});

describe("an unavailable trace receiver", () => {
  test("is logged when it fails and when it is back, and does not affect clients", async () => {
    const port = freePort();
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
    const service = await TestService.start({ settings });
    const key = await service.newKey();
    const lines = () => service.logLines.map((line) => JSON.parse(line)).filter(({ event }) => /trace/.test(event));
    const get = () => service.call("GET", "/pets", { key });
    const drops = (count: number) => untilMetric(service.app.base, "petstore_traces_dropped_total", count);
    expect((await get()).status).toBe(200);
    await drops(1);
    expect((await get()).status).toBe(200);
    await drops(2);
    expect(lines()).toMatchObject([{ level: "warn", event: "traces_not_delivered" }]);
    using receiver = new TraceReceiver(port);
    expect((await get()).status).toBe(200);
    await eventually(() => lines().length === 2);
    expect(lines()[1]).toMatchObject({ level: "info", event: "traces_delivered_again" });
    expect(receiver.spans).toHaveLength(1);
    await service.stop();
  });

  test("leaves at most 4,096 spans in memory; further ones are dropped and counted", () => {
    using receiver = new TraceReceiver();
    const { tracer, metrics } = newTracer(receiver);
    for (let count = 0; count < 6_000; count++) tracer.record({}, served);
    // The first 512 are on their way to it.
    expect(metrics.expose()).toContain("\npetstore_traces_waiting 4096\n");
    expect(metrics.expose()).toContain(`\npetstore_traces_dropped_total ${6_000 - 512 - 4_096}\n`);
  });

  test("gets waiting spans in batches when the service stops", async () => {
    using receiver = new TraceReceiver();
    const { tracer } = newTracer(receiver);
    for (let count = 0; count < 1_300; count++) tracer.record({}, served);
    await tracer.close();
    expect(receiver.spans).toHaveLength(1_300);
    expect(receiver.batches).toHaveLength(3);
  });
});

const served = {
  requestId: "1",
  clientRequestId: undefined,
  traceparent: null,
  operation: "listPets",
  route: "/v1/pets",
  path: "/pets",
  base: new URL("https://petstore.example/v1"),
  address: undefined,
  method: "GET",
  status: 200,
  code: undefined,
  accountId: undefined,
  keyId: undefined,
  isSimulated: false,
  startedAt: 0,
  durationMs: 1,
  resource: undefined,
  created: undefined,
  simulated: undefined,
};

function newTracer(receiver: TraceReceiver) {
  const metrics = new Metrics();
  const settings = { url: `${receiver.address}/v1/traces`, headers: {}, service: "petstore", ratio: 1 };
  return { metrics, tracer: new Tracer(settings, { clock: systemClock, log: new Log("silent"), metrics }) };
}

describe("traceparent", () => {
  test.each([
    [sampled, { traceId, spanId, isSampled: true }],
    [`00-${traceId}-${spanId}-00`, { traceId, spanId, isSampled: false }],
    [`00-${traceId}-${spanId}-03`, { traceId, spanId, isSampled: true }],
    [`cc-${traceId}-${spanId}-01-what-is-to-come`, { traceId, spanId, isSampled: true }],
  ])("%s is parsed", (header, context) => {
    expect(parseTraceparent(header)).toEqual(context);
  });

  test.each([
    "",
    "00",
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `cc-${traceId}-${spanId}-01more`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId}-${spanId}-0`,
    `${sampled},${sampled}`,
  ])("%p starts a new trace", (header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });
});

describe("traces", () => {
  test("are off by default", () => {
    expect(readConfig({}).traces).toBeUndefined();
    expect(readConfig({ OTEL_LOG_LEVEL: "info" }).traces).toBeUndefined();
  });

  test.each([
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "receiver:4318"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:secret@receiver:4318"],
    ["OTEL_TRACES_SAMPLER_ARG", "1.5"],
    ["OTEL_TRACES_SAMPLER_ARG", "all"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "secret"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "key=secret%"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "key=secret%0Aother: 1"],
  ])("are not configured by %s = %s, which is rejected", (name, value) => {
    const read = () => readConfig({ [name]: value });
    expect(read).toThrow(ConfigError);
    if (name.endsWith("HEADERS")) expect(read).not.toThrow("secret");
  });
});
