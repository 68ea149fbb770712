// What belongs to no operation: unknown paths and methods, other sites, anonymous clients, removal, failures.
import { afterAll, afterEach, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { failure } from "../../src/contract/errors.ts";
import { generateApiKey } from "../../src/domains/keys/api-key.ts";
import { petNotFound } from "../../src/domains/pets/pets.operations.ts";
import { StorageUnavailable } from "../../src/storage/errors.ts";
import { waitFor } from "../../src/storage/transaction.ts";
import { NOON } from "../harness/manual-clock.ts";
import { serviceWith } from "../harness/pets-domain.ts";
import { TestService } from "../harness/service.ts";
import { onPostgres } from "../harness/test-store.ts";

const REMOVAL = Date.UTC(2030, 11, 5);

describe("paths and methods", () => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await TestService.start();
    key = await service.newKey();
  });
  afterAll(() => service.stop());

  test.each(["", "/", "/pets/", "/pet", "/pets/1/2", "//pets", "/pets%2F1", "/x/../pets", "/p%65ts"])(
    "there is nothing at %j",
    async (path) => {
      // fetch would tidy the path up before it sends it
      const { status, body, headers } = await rawRequest(service, `GET /v1${path} HTTP/1.1`, [
        `Authorization: Bearer ${key}`,
      ]);
      expect([status, body.code, body.status]).toEqual([404, "path_not_found", 404]);
      expect(headers).toContain("x-ratelimit-remaining");
    },
  );

  test("says how a path is sent that is written with segments . and .. or escapes", async () => {
    for (const path of ["/v1/x/../pets", "/v1/./pets", "/v1/%2e%2e/v1/pets", "/v1/p%65ts"]) {
      const { body } = await rawRequest(service, `GET ${path} HTTP/1.1`, [`Authorization: Bearer ${key}`]);
      expect(body.message).toBe('Send the path as "/v1/pets": without escapes, "." and ".." as segments.');
    }
  });

  test.each(["POST", "PUT", "TRACE", "PROPFIND", "PURGE"])("returns 405 for %s on /pets/{petId}", async (method) => {
    const { status, body, headers } = await rawRequest(service, `${method} /v1/pets/1 HTTP/1.1`, [
      `Authorization: Bearer ${key}`,
    ]);
    expect([status, body.code]).toEqual([405, "method_not_allowed"]);
    expect(headers).toContain("allow: get, head, patch, delete, options");
    expect(headers).toContain("x-ratelimit-remaining");
  });

  test("returns 401 without a key before 404 or 405", async () => {
    for (const [method, path] of [
      ["GET", "/nothing"],
      ["DELETE", "/pets"],
      ["GET", "/pets/abc"],
      ["POST", "/pets"],
    ] as const) {
      expect((await service.call(method, path)).status).toBe(401);
    }
  });

  test("returns 401 without a key and 404 with one for OPTIONS on an unknown path", async () => {
    expect((await service.call("OPTIONS", "/nothing")).status).toBe(401);
    const { status, json, headers } = await service.call("OPTIONS", "/nothing", { key });
    expect([status, json.code, headers.has("allow")]).toEqual([404, "path_not_found", false]);
  });

  test("answers a browser's preflight for any path, without counting it, so that a page can read the error", async () => {
    const asked = { Origin: "https://shop.test", "Access-Control-Request-Method": "DELETE" };
    const remaining = new Set<string | null>();
    for (const path of ["/pet", "/pets/7/sell", "", "/", "/pets/x/y/z?q=1", "/pets"]) {
      const { status, headers, text } = await service.call("OPTIONS", path, { headers: asked });
      expect([path, status, text]).toEqual([path, 204, ""]);
      expect(headers.get("access-control-allow-methods")?.split(", ")).toContain("*");
      expect(headers.get("access-control-allow-headers")?.split(", ")).toContain("Authorization");
      expect(headers.get("access-control-max-age")).toBe("86400");
      remaining.add(headers.get("x-ratelimit-remaining"));
    }
    expect(remaining.size).toBe(1);
    const refused = await service.call("DELETE", "/pet", { key, headers: { Origin: "https://shop.test" } });
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([404, "*"]);
  });

  test("lists the allowed methods of a path in Allow", async () => {
    expect((await service.call("DELETE", "/pets", { key })).headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS");
  });

  test("returns errors with the usual body and no limit headers outside /v1", async () => {
    const response = await fetch(new URL("/nothing", service.app.base));
    expect(response.headers.has("x-ratelimit-limit")).toBe(false);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect([response.status, await response.json()]).toEqual([
      404,
      { code: "path_not_found", message: 'There is nothing at "/nothing". /docs lists all operations.', status: 404 },
    ]);
  });

  test.each(["/v1/pets", "/v1/pets/99", "/v1/nothing", "/v1", "/nothing", "/", "/docs", "/openapi.json", "/healthz"])(
    "HEAD %s returns the headers of GET",
    async (path) => {
      const namesOf = async (method: string) => {
        const headers = { Authorization: `Bearer ${key}`, Connection: "close" };
        const response = await fetch(new URL(path, service.app.base), { method, headers, redirect: "manual" });
        return [response.status, ...[...response.headers.keys()].toSorted()];
      };
      const ofGet = await namesOf("GET");
      expect(ofGet).toContain("date");
      expect(await namesOf("HEAD")).toEqual(ofGet);
    },
  );

  test("gives every response a unique X-Request-Id, which shows nothing of other requests", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 600; count++) {
      const { headers } = await fetch(`${service.app.base}/pets`, { method: "OPTIONS" });
      ids.push(headers.get("x-request-id") ?? "");
    }
    expect(new Set(ids).size).toBe(600);
    // Each digit of an id has every value, and no id says which came first.
    for (let place = 0; place < 20; place++) expect(new Set(ids.map((id) => id[place])).size).toBe(16);
    const ascents = ids.filter((id, index) => index > 0 && id > (ids[index - 1] as string)).length;
    expect(Math.abs(ascents - 300)).toBeLessThan(150);
  });

  // Behind a request that is still being answered, the runtime closes the connection.
  if (!onPostgres) {
    test("answers each of many requests on one connection", async () => {
      const request = `GET /v1/pets HTTP/1.1\r\nHost: petstore\r\nAuthorization: Bearer ${key}\r\n\r\n`;
      const text = await rawText(service, request + request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
      expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    });
  }
});

test("a client that disconnects while sending its body does not log a failure", async () => {
  const service = await TestService.start();
  const key = await service.newKey();
  const left = Promise.withResolvers<void>();
  const head = `POST /v1/pets HTTP/1.1\r\nHost: petstore\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  await Bun.connect({
    hostname: "127.0.0.1",
    port: service.app.port,
    socket: {
      open: (socket) => {
        socket.write(`${head}Content-Length: 100\r\n\r\n{"name":`);
        socket.flush();
        setImmediate(() => socket.terminate());
      },
      data: () => {},
      close: () => left.resolve(),
    },
  });
  await left.promise;
  expect((await service.call("GET", "/pets", { key })).json).toEqual([]);
  await service.stop();
  const statuses = service.logLines.map((line) => JSON.parse(line)).filter(({ level }) => level === "error");
  expect(statuses).toEqual([]);
});

describe("requests without a valid key", () => {
  let service: TestService;
  afterEach(() => service.stop());

  test("are limited to 60 a minute for each address, apart from requests with a key", async () => {
    service = await TestService.start();
    const key = await service.newKey();
    for (let count = 1; count <= 60; count++) {
      const { status, headers } = await service.call("GET", "/pets", count % 2 ? {} : { key: "psk_test_wrong" });
      expect([status, headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]).toEqual([
        401,
        "60",
        String(60 - count),
      ]);
    }
    for (const path of ["/pets", "/nothing"]) {
      const { status, json, headers } = await service.call("GET", path);
      expect([status, json.code, headers.get("retry-after")]).toEqual([429, "rate_limit_exceeded", "60"]);
    }
    expect((await service.call("GET", "/pets", { key })).status).toBe(200);
    service.clock.advance(60_000);
    expect((await service.call("GET", "/pets")).status).toBe(401);
  });

  test("are not counted by an address in X-Forwarded-For without a trusted proxy", async () => {
    service = await TestService.start();
    for (let count = 0; count < 60; count++)
      await service.call("GET", "/pets", { headers: { "X-Forwarded-For": `192.0.2.${count}` } });
    expect((await service.call("GET", "/pets", { headers: { "X-Forwarded-For": "192.0.2.99" } })).status).toBe(429);
  });

  test("are counted by the address from a trusted proxy only", async () => {
    service = await TestService.start({ settings: { PETSTORE_TRUSTED_PROXIES: "127.0.0.0/8, 10.0.0.0/8" } });
    const left = async (forwarded: string) => {
      const { headers } = await service.call("GET", "/pets", { headers: { "X-Forwarded-For": forwarded } });
      return Number(headers.get("x-ratelimit-remaining"));
    };
    expect(await left("192.0.2.1")).toBe(59);
    expect(await left("198.51.100.7, 192.0.2.1")).toBe(58); // what the client itself wrote is not believed
    expect(await left("192.0.2.1, 10.1.2.3")).toBe(57); // a second proxy in between
    expect(await left("192.0.2.2")).toBe(59);
    expect(await left("2001:db8:1:2:3:4:5:6")).toBe(59);
    expect(await left("2001:db8:1:2:ffff::1")).toBe(58); // the same /64
    expect(await left("2001:db8:1:3::1")).toBe(59);
    expect(await left("nonsense")).toBe(59); // an entry that is no address is not used, nor is any before it: the proxy that sent it is counted
    expect(await left("192.0.2.9, nonsense")).toBe(58);
  });
});

describe("bans", () => {
  test("a key that continues after a 429 is banned; the account's other key is not", async () => {
    const service = await TestService.start();
    const { key, account } = await service.newAccountWithKey("free");
    const { key: other } = await service.app.keys.issueKey(account.id, "other", ["read"], service.clock.now());
    const get = (bearer = key) => service.call("GET", "/pets", { key: bearer });
    for (let count = 0; count < 60; count++) expect((await get()).status).toBe(200);
    for (let count = 0; count < 50; count++) expect((await get()).json.code).toBe("rate_limit_exceeded"); // in flight: no strikes
    service.clock.advance(1_000);
    for (let strike = 1; strike < 30; strike++) expect((await get()).json.code).toBe("rate_limit_exceeded");
    const banned = await get();
    expect([banned.status, banned.json.code, banned.headers.get("retry-after")]).toEqual([429, "key_banned", "60"]);
    expect((await get(other)).json.code).toBe("rate_limit_exceeded");

    const restarted = await service.restart();
    restarted.clock.advance(59_000);
    const still = await restarted.call("GET", "/pets", { key });
    expect([still.json.code, still.headers.get("retry-after")]).toEqual(["key_banned", "1"]);
    expect((await restarted.call("GET", "/pets", { key: other })).status).toBe(200);
    restarted.clock.advance(1_000);
    expect((await restarted.call("GET", "/pets", { key })).status).toBe(200);
    await restarted.stop();
  });

  // On PostgreSQL without Valkey, a process keeps its counts in memory only.
  test.skipIf(onPostgres)("the day's count survives a restart", async () => {
    let service = await TestService.start();
    const key = await service.newKey("enterprise", { perMinute: 100, perDay: 5 });
    for (let count = 0; count < 4; count++) await service.call("GET", "/pets", { key });
    service = await service.restart();
    expect((await service.call("GET", "/pets", { key })).headers.get("x-ratelimit-remaining")).toBe("0");
    const { status, headers } = await service.call("GET", "/pets", { key });
    expect([status, headers.get("retry-after")]).toEqual([429, String(12 * 3600)]);
    service.clock.advance(12 * 3_600_000);
    expect((await service.call("GET", "/pets", { key })).status).toBe(200);
    await service.stop();
  });
});

describe("a removed operation", () => {
  test("getPet returns 410 from its sunset date, and listPets continues", async () => {
    const service = await TestService.start();
    const key = await service.newKey();
    const { id } = (await service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1 } })).json;
    service.clock.setWall(REMOVAL - 1);
    expect((await service.call("GET", `/pets/${id}`, { key })).status).toBe(200);
    service.clock.setWall(REMOVAL);
    const { status, json, headers } = await service.call("GET", `/pets/${id}`, { key });
    expect([status, json.code]).toEqual([410, "operation_removed"]);
    expect(headers.get("sunset")).toBe("Thu, 05 Dec 2030 00:00:00 GMT");
    expect(headers.get("link")).toContain(`<${service.app.base}/pets>; rel="successor-version"`);
    expect((await service.call("GET", "/pets", { key })).json).toHaveLength(1);
    service.clock.setWall(NOON);
    await service.stop();
  });
});

describe("failures", () => {
  test.each([
    [
      "an error",
      function* () {
        throw new Error("secret /internal/path psk_test_x");
      },
    ],
    ["a rejection", () => waitFor(Promise.reject(new Error("secret")))],
    [
      "an undeclared error",
      function* () {
        return failure({ ...petNotFound, code: "made_up" }, "secret");
      },
    ],
    ["no outcome", function* () {}],
  ])("%s inside a handler returns a 500 without details, and is logged", async (_name, getPet) => {
    using shown = spyOn(console, "error").mockImplementation(() => {});
    const service = await serviceWith(getPet as () => never);
    const key = await service.newKey();
    const { status, json, headers, text } = await service.call("GET", "/pets/1", { key });
    expect([status, json.code]).toEqual([500, "internal_error"]);
    expect(text).not.toMatch(/secret|internal\/|TypeError/);
    expect((await service.call("GET", "/pets", { key })).status).toBe(200);
    await service.stop();
    expect(service.logLines.join("\n")).toContain(`"requestId":"${headers.get("x-request-id")}"`);
    expect(shown.mock.calls).toEqual([[expect.stringContaining('"event":"request_failed"')]]); // by the test service
  });

  test("an unavailable store returns a 503 with Retry-After", async () => {
    const service = await serviceWith(function* () {
      throw new StorageUnavailable("disk /dev/sda is on fire");
    });
    const { status, json, headers, text } = await service.call("GET", "/pets/1", { key: await service.newKey() });
    expect([status, json.code, headers.get("retry-after")]).toEqual([503, "storage_unavailable", "1"]);
    expect(text).not.toContain("fire");
    // After a failed sync the write may be on disk all the same.
    expect(json.message).toBe("The store is temporarily unavailable. A change may or may not have been made.");
    await service.stop();
  });

  test("a store that fails before the request is counted returns the limits of the address", async () => {
    const service = await TestService.start();
    await service.call("GET", "/pets");
    await service.store.run("ALTER TABLE api_keys RENAME TO elsewhere");
    for (let time = 0; time < 2; time++) {
      const { status, json, headers } = await service.call("GET", "/pets", { key: generateApiKey("test") });
      expect([status, json.code]).toEqual([503, "storage_unavailable"]);
      expect([headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]).toEqual(["60", "59"]);
    }
    await service.store.run("ALTER TABLE elsewhere RENAME TO api_keys");
    expect((await service.call("GET", "/pets", { key: generateApiKey("test") })).status).toBe(401);
    await service.stop();
  });
});

/** Sends text over a socket and returns what comes until the end of the connection. */
async function rawText(service: TestService, request: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = "";
  await Bun.connect({
    hostname: "127.0.0.1",
    port: service.app.port,
    socket: {
      open: (socket) => void socket.write(request),
      data: (_socket, bytes) => void (text += bytes.toString()),
      close: () => resolve(text),
      error: (_socket, error) => reject(error),
    },
  });
  return promise;
}

/** One request with exactly this first line. */
async function rawRequest(service: TestService, line: string, headers: string[]) {
  const text = await rawText(service, [line, "Host: petstore", "Connection: close", ...headers, "", ""].join("\r\n"));
  const [head = "", body = ""] = text.split("\r\n\r\n");
  return {
    status: Number(head.split(" ")[1]),
    headers: head.toLowerCase(),
    body: body === "" ? undefined : JSON.parse(body),
  };
}
