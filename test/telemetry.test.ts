import { afterAll, beforeAll, describe, expect, jest, test } from "bun:test";
import { Log } from "../src/telemetry/log.ts";
import { newDataDir, Program, runJson } from "./harness/program.ts";
import { TestService } from "./harness/service.ts";

describe("the log", () => {
  test("has one line for each request, with what it was and never a key", async () => {
    const service = await TestService.start();
    const { key, account } = await service.newAccountWithKey("free");
    const answers = [
      await service.call("GET", "/pets", { key }),
      await service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1 } }),
      await service.call("GET", `/pets?key=${key}`, { key }),
      await service.call("GET", "/pets", { key: `${key}x` }),
      await service.call("DELETE", `/${key}`, { key }),
    ];
    await service.stop();
    const lines = service.logLines.map((line) => JSON.parse(line)).filter(({ event }) => event === "request");
    expect(lines).toEqual(
      [
        ["listPets", "GET", 200, account.id],
        ["createPet", "POST", 201, account.id],
        ["listPets", "GET", 400, account.id],
        ["listPets", "GET", 401, null],
        [null, "DELETE", 404, account.id],
      ].map(([operation, method, status, owner], index) => ({
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        level: "info",
        event: "request",
        requestId: answers[index]?.headers.get("x-request-id"),
        operation,
        method,
        status,
        durationMs: expect.any(Number),
        account: owner,
      })),
    );
    expect(service.logLines.join("\n")).not.toContain(key.slice(12));
  });

  test("drops lines, and says how many, where nobody reads them", async () => {
    const written: string[] = [];
    const log = new Log("info", async (text) => void written.push(text));
    const long = "x".repeat(1024 * 1024);
    for (let count = 0; count < 10; count++) log.info("line", { long });
    await log.close();
    const lines = written
      .join("")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({ level: "warn", event: "log lines dropped", lines: 10 - (lines.length - 1) });
    expect(written.join("").length).toBeLessThan(6 * 1024 * 1024);
  });

  test("says of a failure that goes on when it began, then how often it happened", async () => {
    jest.useFakeTimers();
    const lines: string[] = [];
    const log = new Log("warn", async (text) => void lines.push(...text.trimEnd().split("\n")));
    const fail = (times: number) => {
      for (let left = times; left > 0; left--) log.failing("no store", new Error("disk is full"), { left });
    };
    fail(10_000);
    jest.advanceTimersByTime(10_000);
    fail(5);
    jest.advanceTimersByTime(30_000); // a line more, then none: it is over
    fail(3);
    jest.useRealTimers();
    await log.close();
    const found = lines.map((line) => JSON.parse(line)).map(({ event, left, times }) => [event, left, times]);
    expect(found).toEqual([
      ["no store", 10_000, undefined],
      ["no store", 1, 9_999],
      ["no store", 1, 5],
      ["no store", 3, undefined],
      ["no store", 1, 2],
    ]);
  });

  test("that nobody reads stops neither the service nor its end", async () => {
    const dataDir = newDataDir();
    const program = await Program.start(dataDir);
    const key = /psk_test_\w+/.exec(program.output)?.[0];
    program.stopReading();
    // Far more lines than a pipe holds.
    for (let count = 0; count < 100; count++) {
      await Promise.all(
        Array.from({ length: 50 }, () =>
          fetch(`${program.base}/pets`, { headers: { Authorization: `Bearer ${key}` } }),
        ),
      );
    }
    expect((await fetch(new URL("/healthz", program.base))).status).toBe(200);
    expect(await program.end()).toBe(0);
  });

  test.each([
    ["warn", 0],
    ["info", 1],
  ] as const)("at level %s has %d lines of a request", async (level, count) => {
    const lines: string[] = [];
    const log = new Log(level, async (text) => void lines.push(text));
    log.request({ id: "1", operation: "listPets", method: "GET", status: 200, duration: 1, account: undefined });
    await log.close();
    expect(lines).toHaveLength(count);
  });
});

describe("the pages for whoever watches", () => {
  let service: TestService;
  let key: string;
  const page = (path: string, method = "GET") => fetch(new URL(path, service.app.base), { method });

  beforeAll(async () => {
    service = await TestService.start();
    key = await service.newKey("free");
    await service.call("GET", "/pets", { key });
    await service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1 } });
    for (let count = 0; count < 58 + 2; count++) await service.call("GET", "/pets", { key });
    service.clock.advance(1_000);
    for (let count = 0; count < 31; count++) await service.call("GET", "/pets", { key });
    for (let count = 0; count < 60 + 3; count++) await service.call("GET", "/nothing");
  });
  afterAll(() => service.stop());

  test("say that it is alive and ready", async () => {
    expect(await (await page("/healthz")).json()).toEqual({ status: "ok" });
    expect([(await page("/readyz")).status, await (await page("/readyz")).json()]).toEqual([200, { status: "ready" }]);
    expect([(await page("/healthz", "HEAD")).status, (await page("/healthz", "POST")).status]).toEqual([200, 405]);
  });

  test("count requests, denials, bans and commits", async () => {
    const text = await (await page("/metrics")).text();
    const value = (name: string) =>
      Number(
        text
          .split("\n")
          .find((line) => line.startsWith(`${name} `))
          ?.split(" ")
          .at(-1),
      );
    expect(value('petstore_requests_total{operation="listPets",status="200"}')).toBe(59);
    expect(value('petstore_requests_total{operation="createPet",status="201"}')).toBe(1);
    expect(value('petstore_requests_total{operation="listPets",status="429"}')).toBe(33);
    expect(value('petstore_requests_limited_total{by="account"}')).toBe(31);
    expect(value('petstore_requests_limited_total{by="address"}')).toBe(3);
    expect(value("petstore_requests_banned_total")).toBe(2);
    expect(value('petstore_request_duration_seconds_count{operation="listPets"}')).toBe(92);
    expect(value('petstore_request_duration_seconds_bucket{operation="listPets",le="+Inf"}')).toBe(92);
    expect(value("petstore_commit_duration_seconds_count")).toBeGreaterThan(0);
    expect(value("petstore_limiter_accounts")).toBe(1);
    expect(value("process_resident_memory_bytes")).toBeGreaterThan(1e6);
  });

  test("are written as Prometheus reads them", async () => {
    const response = await page("/metrics");
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    for (const line of (await response.text()).trimEnd().split("\n")) {
      expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+)$/);
    }
  });
});

test("a service that stops is no longer ready", async () => {
  const program = await Program.start(newDataDir());
  const { origin } = new URL(program.base);
  const key = /psk_test_\w+/.exec(program.output)?.[0];
  expect((await fetch(`${origin}/readyz`)).status).toBe(200);
  program.child.kill("SIGTERM");
  await program.until(() => program.output.includes('"event":"stopping"'));
  const states = new Set<number>();
  for (;;) {
    try {
      states.add((await fetch(`${origin}/readyz`)).status);
      await fetch(`${program.base}/pets`, { headers: { Authorization: `Bearer ${key}` } });
    } catch {
      break;
    }
  }
  expect([...states]).toEqual([503]);
  expect(await program.child.exited).toBe(0);
  expect(await runJson(program.dataDir, ["keys", "list"])).toHaveLength(1);
});
