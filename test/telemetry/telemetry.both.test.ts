import { afterAll, beforeAll, describe, expect, jest, test } from "bun:test";
import { join } from "node:path";
import { domains } from "../../src/app/domains.ts";
import { errorsOf } from "../../src/contract/operation-properties.ts";
import type { ServedDomain } from "../../src/domains/callers.ts";
import { Log } from "../../src/telemetry/log.ts";
import { logEvents } from "../../src/telemetry/log-events.ts";
import { metric } from "../harness/metrics.ts";
import { eventually, keyIn, newDataDir, Program, runJson } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";

const MAX_ID = "9223372036854775807";

/** The log's lines of requests. */
function requestLines({ logLines }: TestService) {
  return logLines.map((line) => JSON.parse(line)).filter(({ event }) => event === "request");
}

describe("the log", () => {
  test("has one line for each request, with its facts and never a key", async () => {
    const service = await TestService.start();
    const { key, account, record } = await service.newAccountWithKey("free");
    const responses = [
      await service.call("GET", "/pets", { key }),
      await service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1 } }),
      await service.call("POST", "/pets/import", { key, body: { animals: [{ name: "Tom", categoryId: 1 }] } }),
      await service.call("PATCH", "/pets/1", { key, body: { name: "Max" } }),
      await service.call("GET", "/pets/9223372036854775807", { key }),
      await service.call("GET", `/pets/${key}`, { key }),
      await service.call("GET", `/pets?key=${key}`, { key }),
      await service.call("DELETE", `/keys/${record.id}`, { key }),
      await service.call("GET", "/pets", { key: `${key}x` }),
      await service.call("DELETE", `/${key}`, { key }),
    ];
    await service.stop();
    const known = { accountId: account.id, keyId: record.id };
    const refused = { method: "DELETE", status: 403, code: "insufficient_scope" };
    const expected = [
      { operation: "listPets", method: "GET", status: 200, ...known },
      { operation: "createPet", method: "POST", status: 201, ...known, created: "1" },
      { operation: "importPets", method: "POST", status: 201, ...known },
      { operation: "updatePet", method: "PATCH", status: 200, ...known, resource: { petId: "1" } },
      {
        operation: "getPet",
        method: "GET",
        status: 404,
        code: "pet_not_found",
        ...known,
        resource: { petId: MAX_ID },
      },
      { operation: "getPet", method: "GET", status: 404, code: "pet_not_found", ...known },
      { operation: "listPets", method: "GET", status: 400, code: "invalid_request", ...known },
      { operation: "revokeKey", ...refused, ...known, resource: { keyId: record.id } },
      { operation: "listPets", method: "GET", status: 401, code: "invalid_api_key" },
      { method: "DELETE", status: 404, code: "path_not_found", ...known },
    ];
    const lines = requestLines(service);
    expect(lines.map(({ requestId }) => requestId)).toEqual(
      responses.map(({ headers }) => headers.get("x-request-id")),
    );
    const ofAll = {
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      level: "info",
      event: "request",
      requestId: expect.any(String),
      durationMs: expect.any(Number),
      address: "127.0.0.1",
    };
    for (const [index, fields] of expected.entries()) expect(lines[index]).toEqual({ ...ofAll, ...fields });
    expect(service.logLines.join("\n")).not.toContain(key.slice(12));
  });

  test("reports which key was created, rotated or revoked, and by which key", async () => {
    const service = await TestService.start();
    const { key, record } = await service.newAccountWithKey("pro", undefined, ["read", "write", "admin"]);
    const made = await service.call("POST", "/keys", { key, body: { name: "till", scopes: ["read"] } });
    const rotated = await service.call("POST", `/keys/${made.json.id}/rotate`, { key });
    await service.call("DELETE", `/keys/${rotated.json.id}`, { key });
    await service.stop();
    expect(requestLines(service)).toMatchObject([
      { operation: "createKey", status: 201, keyId: record.id, created: made.json.id },
      { operation: "rotateKey", keyId: record.id, resource: { keyId: made.json.id }, created: rotated.json.id },
      { operation: "revokeKey", status: 204, keyId: record.id, resource: { keyId: rotated.json.id } },
    ]);
  });

  test("has the id that a client gives its request, if it has the right form and contains no key", async () => {
    const service = await TestService.start();
    const key = await service.newKey();
    const given = [
      "7f3c",
      `"\\~!`,
      "x".repeat(128),
      "x".repeat(129),
      "two words",
      "tab\there",
      "é",
      "",
      key,
      `retry-${key.toUpperCase()}`,
    ];
    for (const id of given) await service.call("GET", "/pets", { key, headers: { "X-Request-Id": id } });
    await service.stop();
    const ids = requestLines(service).map(({ clientRequestId }) => clientRequestId);
    expect(ids).toEqual(given.map((id, index) => (index < 3 ? id : undefined)));
  });

  test("has no client address if that is turned off", async () => {
    const service = await TestService.start({ settings: { PETSTORE_LOG_ADDRESSES: "false" } });
    for (let count = 0; count < 12; count++) await service.call("GET", "/pets", { key: "wrong" });
    await service.stop();
    expect(service.logLines.filter((line) => line.includes('"event":"request"'))).toHaveLength(12);
    expect(service.logLines.join("\n")).not.toContain("127.0.0.1");
    const guesses = service.logLines.map((line) => JSON.parse(line)).filter(({ event }) => /invalid_keys/.test(event));
    expect(guesses).toMatchObject([{ count: 12, addresses: 1 }]);
  });

  test("that is brief has of requests only those that failed or were slow, and all else of info", async () => {
    const program = await Program.start(newDataDir(), { PETSTORE_LOG_LEVEL: "brief" });
    const ask = (key: string) => fetch(`${program.base}/pets`, { headers: { Authorization: `Bearer ${key}` } });
    for (const key of [keyIn(program.output), "wrong"]) await (await ask(key)).text();
    await program.end();
    const events = program.output
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
    const requests = events.filter(({ event, durationMs }) => event === "request" && durationMs < 1_000);
    expect(requests).toMatchObject([{ status: 401 }]);
    expect(events).toContainEqual(expect.objectContaining({ level: "info", event: "stopping" }));

    const lines: string[] = [];
    const log = new Log("brief", async (text) => void lines.push(...text.trimEnd().split("\n")));
    for (const durationMs of [999, 1_000])
      log.request({ requestId: String(durationMs), method: "GET", status: 200, durationMs } as never);
    await log.close();
    expect(lines.map((line) => JSON.parse(line).requestId)).toEqual(["1000"]);
  });

  test("has for each event a name that the code uses, and a sentence", async () => {
    const root = join(import.meta.dir, "../../src");
    const files = [...new Bun.Glob("**/*.ts").scanSync(root)].filter((file) => !/events\.ts$|\.test\.ts$/.test(file));
    const source = (await Promise.all(files.map((file) => Bun.file(join(root, file)).text()))).join("\n");
    for (const [name, { message }] of Object.entries(logEvents)) {
      expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(message).toMatch(/^[A-Z].*\.$/);
      expect(source).toContain(`"${name}"`);
    }
  });

  test("has the sentence of an event as its message", async () => {
    const lines: string[] = [];
    const log = new Log("debug", async (text) => void lines.push(...text.trimEnd().split("\n")));
    log.warn("data_folder_not_locked", { reason: "read-only" });
    log.error("task_failed", new Error("full"), { task: "save_limits" });
    await log.close();
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: "warn", reason: "read-only", message: logEvents.data_folder_not_locked.message },
      { level: "error", task: "save_limits", message: logEvents.task_failed.message, error: "full" },
    ]);
  });

  test("drops lines that nobody reads, and reports how many", async () => {
    const written: string[] = [];
    const log = new Log("info", async (text) => void written.push(text));
    const long = "x".repeat(1024 * 1024);
    for (let count = 0; count < 10; count++) log.info("listening", { address: long });
    await log.close();
    const lines = written
      .join("")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({ level: "warn", event: "log_lines_dropped", lines: 10 - (lines.length - 1) });
    expect(written.join("").length).toBeLessThan(6 * 1024 * 1024);
  });

  test("reports lines that could not be written, and begins a new line after them", async () => {
    let output = "";
    let hasRoom = false;
    const log = new Log("info", async (text) => {
      output += hasRoom ? text : text.slice(0, 20);
      if (!hasRoom) throw new Error("ENOSPC: no space left on device, write");
    });
    log.info("limits_shared_again");
    log.info("stopping");
    await eventually(() => output !== "");
    hasRoom = true;
    log.info("limits_shared_again");
    await log.close();
    const [cut, ...lines] = output.trimEnd().split("\n");
    expect(cut).toHaveLength(20);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: "limits_shared_again" },
      { event: "log_lines_dropped", lines: 2 },
    ]);
  });

  test("has the error of a page outside the API that failed", async () => {
    const broken: ServedDomain = {
      name: "broken",
      operations: [],
      open: ({ metrics }) => {
        metrics.gauge("petstore_broken", "Fails.", () => {
          throw new Error("The gauge is broken.");
        });
        return [];
      },
    };
    const service = await TestService.start({ domains: [...domains, broken] });
    const response = await fetch(new URL("/metrics", service.app.base));
    expect([response.status, await response.json()]).toEqual([
      500,
      { code: "internal_error", message: "The service failed.", status: 500 },
    ]);
    await service.stop();
    expect(service.logLines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ level: "error", event: "request_failed", error: "The gauge is broken." }),
    );
  });

  test("reports the start of a repeated failure, then its count", async () => {
    jest.useFakeTimers();
    const lines: string[] = [];
    const log = new Log("warn", async (text) => void lines.push(...text.trimEnd().split("\n")));
    const fail = (times: number) => {
      for (let left = times; left > 0; left--)
        log.failing("storage_unavailable", new Error("disk is full"), { requestId: left });
    };
    fail(10_000);
    jest.advanceTimersByTime(10_000);
    fail(5);
    jest.advanceTimersByTime(30_000); // a line more, then none: it is over
    fail(3);
    jest.useRealTimers();
    await log.close();
    const found = lines.map((line) => JSON.parse(line)).map(({ event, requestId, times }) => [event, requestId, times]);
    expect(found).toEqual([
      ["storage_unavailable", 10_000, undefined],
      ["storage_unavailable", 1, 9_999],
      ["storage_unavailable", 1, 5],
      ["storage_unavailable", 3, undefined],
      ["storage_unavailable", 1, 2],
    ]);
  });

  test("does not block the service or its shutdown if nobody reads it", async () => {
    const dataDir = newDataDir();
    const program = await Program.start(dataDir);
    const key = keyIn(program.output);
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
  ] as const)("has at level %s %d lines of a request", async (level, count) => {
    const lines: string[] = [];
    const log = new Log(level, async (text) => void lines.push(text));
    log.request({
      requestId: "1",
      operation: "listPets",
      method: "GET",
      status: 200,
      durationMs: 1,
      clientRequestId: undefined,
      code: undefined,
      resource: undefined,
      created: undefined,
      simulated: undefined,
      accountId: undefined,
      keyId: undefined,
      address: undefined,
    });
    await log.close();
    expect(lines).toHaveLength(count);
  });
});

describe("the monitoring pages", () => {
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

  const value = (name: string) => metric(service.app.base, name);

  test("report that it is alive and ready", async () => {
    expect(await (await page("/healthz")).json()).toEqual({ status: "ok" });
    expect([(await page("/readyz")).status, await (await page("/readyz")).json()]).toEqual([200, { status: "ready" }]);
    expect([(await page("/healthz", "HEAD")).status, (await page("/healthz", "POST")).status]).toEqual([200, 405]);
  });

  test("have zeros for the successes and faults of each operation from the start, which rate() needs", async () => {
    const fresh = await TestService.start();
    const text = await (await fetch(new URL("/metrics", fresh.app.base))).text();
    await fresh.stop();
    const expected = domains
      .flatMap(({ operations }) => operations)
      .flatMap((operation) => {
        const faults = errorsOf(operation).filter(({ status }) => status >= 500);
        const statuses = [operation.response.status, 500, 503].map(
          (status) => `total{operation="${operation.name}",status="${status}"} 0`,
        );
        const codes = faults.map(({ code }) => `failed_total{operation="${operation.name}",code="${code}"} 0`);
        return statuses.concat(codes);
      });
    const lines = text.split("\n").filter((line) => line.startsWith("petstore_requests_"));
    expect(lines.map((line) => line.slice("petstore_requests_".length))).toEqual(expect.arrayContaining(expected));
  });

  test("count requests, denials, bans and commits", async () => {
    expect(await value('petstore_requests_total{operation="listPets",status="200"}')).toBe(59);
    expect(await value('petstore_requests_total{operation="createPet",status="201"}')).toBe(1);
    expect(await value('petstore_requests_total{operation="listPets",status="429"}')).toBe(33);
    expect(await value('petstore_requests_limited_total{by="account"}')).toBe(31);
    expect(await value('petstore_requests_limited_total{by="address"}')).toBe(3);
    expect(await value("petstore_requests_banned_total")).toBe(2);
    expect(await value('petstore_request_duration_seconds_count{operation="listPets"}')).toBe(92);
    expect(await value('petstore_request_duration_seconds_bucket{operation="listPets",le="+Inf"}')).toBe(92);
    expect(await value("petstore_commit_duration_seconds_count")).toBeGreaterThan(0);
    expect(await value("process_resident_memory_bytes")).toBeGreaterThan(1e6);
  });

  test("are in the format of Prometheus", async () => {
    const response = await page("/metrics");
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    for (const line of (await response.text()).trimEnd().split("\n")) {
      expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+)$/);
    }
  });
});

test("the monitoring pages report a stopping service as not ready", async () => {
  const states = new Set<number>();
  // A test that does not run for a quarter of a second is too late.
  for (let starts = 0; states.size === 0 && starts < 5; starts++) {
    const program = await Program.start(newDataDir());
    const { origin } = new URL(program.base);
    const key = keyIn(program.output);
    expect((await fetch(`${origin}/readyz`)).status).toBe(200);
    program.child.kill("SIGTERM");
    await program.until(() => program.output.includes('"event":"stopping"'));
    for (;;) {
      try {
        states.add((await fetch(`${origin}/readyz`)).status);
        await fetch(`${program.base}/pets`, { headers: { Authorization: `Bearer ${key}` } });
      } catch {
        break;
      }
    }
    expect(await program.child.exited).toBe(0);
    expect(await runJson(program.dataDir, ["keys", "list"])).toHaveLength(1);
  }
  expect([...states]).toEqual([503]);
});
