import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sandboxQuota, scopes } from "../../src/contract/caller.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { isCacheable, showsSecret, takesIdempotencyKey } from "../../src/contract/operation-properties.ts";
import { bodyLimits } from "../../src/contract/requests.ts";
import { generateApiKey } from "../../src/domains/keys/api-key.ts";
import { acceptedStatuses } from "../harness/accepted-outcomes.ts";
import { exchange, type RawResponse } from "../harness/raw-http.ts";
import { type Call, type TestResponse, TestService } from "../harness/service.ts";
import { isLongRun } from "../harness/test-length.ts";
import { bodyOf, pathOf } from "../harness/valid-call.ts";

/** A valid call of the operation. */
function validCall(operation: Operation): Call {
  const body = bodyOf(operation);
  return body === undefined ? {} : { body };
}

/** Operations whose example names a random identifier, so that they find nothing. Their own tests get a 304 from them. */
const findNothing = new Set(["getRequest", "getWebhookEndpoint", "listWebhookDeliveries", "getWebhookDelivery"]);

/** Every header that a script on another site may need to send. */
const sendable = [
  "authorization",
  "content-type",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "last-event-id",
  "petstore-simulate",
  "x-request-id",
  "traceparent",
  "tracestate",
  "baggage",
  "sentry-trace",
];

/** The headers of a response that HEAD and GET have in common. */
function commonHeaders({ headers }: { readonly headers: Headers }): (readonly [name: string, value: string | null])[] {
  return ["etag", "content-type", "content-length", "link"].map((name) => [name, headers.get(name)]);
}

/** The value of `Accept-Patch` (RFC 5789, section 3.1). */
const patchTypes = "application/merge-patch+json, application/json";

/**
 * Declares tests of what the contract requires of each operation: keys, scopes, limits, bad input, `HEAD`, `OPTIONS`,
 * deprecation. `start` starts the service that they call, which is stopped after the tests.
 */
export function everyOperation(operations: readonly Operation[], start: () => Promise<TestService>): void {
  let service: TestService;
  let key: string;

  beforeAll(async () => {
    service = await start();
    ({ key } = await service.newAccountWithKey("enterprise", undefined, [...scopes]));
  });
  afterAll(() => service.stop());

  /** In a short run, these operations alone show what is the same for all operations. */
  const isFirstOfMethod = ({ method, name }: Operation) =>
    operations.find((one) => one.method === method)?.name === name;

  function send(operation: Operation, call: Call = {}) {
    return service.call(operation.method, pathOf(operation), { ...validCall(operation), ...call });
  }

  /** The key of a shop in which what was added has the id 1, which valid calls name. */
  async function keyOfFilledShop(): Promise<string> {
    const owner = await service.newAccountWithKey("enterprise", undefined, [...scopes]);
    // A category gets no id that an animal names, so it comes first; and an order needs an animal, so all come twice.
    const adding = operations.filter(({ response }) => response.location).toReversed();
    for (const operation of [...adding, ...adding]) await send(operation, { key: owner.key });
    return owner.key;
  }

  /** Sends bytes as the body, which no client does for an operation that has none. */
  async function sendBytes(operation: Operation, body: string, more: readonly string[] = []) {
    const { method } = operation;
    const line = `${method} ${new URL(service.app.base).pathname}${pathOf(operation)} HTTP/1.1`;
    const headers = ["Host: petstore", "Connection: close", `Authorization: Bearer ${key}`, ...more];
    const length = `Content-Length: ${body.length}`;
    const [response] = await exchange(service.app.port, `${[line, ...headers, length].join("\r\n")}\r\n\r\n${body}`);
    service.check({ method, path: pathOf(operation), ...(response as RawResponse) });
    const { status, text } = response as RawResponse;
    return { status, details: text === "" ? undefined : (JSON.parse(text) as { details?: unknown }).details };
  }

  /**
   * Gets a resource and does something else. Repeats both if the resource has changed by then: the records of earlier
   * requests may be written, which changes a list of requests.
   */
  async function whileUnchanged<T>(operation: Operation, reader: string, act: (got: TestResponse) => Promise<T>) {
    for (;;) {
      const got = await send(operation, { key: reader });
      const result = await act(got);
      const after = await send(operation, { key: reader });
      if (Bun.deepEquals(commonHeaders(after), commonHeaders(got))) return [got, result] as const;
    }
  }

  describe.each(operations.map((operation) => [operation.name, operation] as const))("%s", (_name, operation) => {
    test("answers a valid request as it declares", async () => {
      const { status } = await send(operation, { key });
      const declared = [operation.response.status, ...operation.errors.map((error) => error.status)];
      expect(declared).toContain(status);
    });

    test("keeps secrets and streams, and nothing else, out of caches", async () => {
      const { status, headers, text } = await send(operation, { key });
      const isKept = !showsSecret(operation) && !operation.response.stream;
      if (status < 400) expect(/(?:psk_[a-z]+_|whsec_)[\w+/]{20}/.test(text)).toBe(showsSecret(operation));
      if (status < 400) expect((headers.get("cache-control") ?? "").includes("no-store")).toBe(!isKept);
    });

    test("returns 401 without a key", async () => {
      const { status, json, headers } = await send(operation);
      expect([status, json.code]).toEqual([401, "missing_api_key"]);
      expect(headers.get("www-authenticate")).toBe('Bearer realm="petstore"');
    });

    test.each(["Basic dXNlcjpwYXNz", "Bearerx", "psk_test_0"])(
      "returns 401 for the authorization %j",
      async (authorization) => {
        const { status, json } = await send(operation, { headers: { Authorization: authorization } });
        expect([status, json.code]).toEqual([401, "missing_api_key"]);
      },
    );

    test("rejects a key that does not exist, is mistyped or belongs to production or another cell", async () => {
      const mistyped = key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
      for (const wrong of [
        mistyped,
        generateApiKey("test"), // of no account
        generateApiKey("live"),
        generateApiKey("test", "zz"),
        `${key} ${key}`,
        `${key},`,
        "",
        "x".repeat(8000),
      ]) {
        const { status, json, headers } = await send(operation, { headers: { Authorization: `Bearer ${wrong}` } });
        expect([status, json.code]).toEqual([401, "invalid_api_key"]);
        expect(headers.get("www-authenticate")).toBe('Bearer realm="petstore", error="invalid_token"');
        service.clock.advance(60_000); // the address has a limit too
      }
    });

    test("accepts Bearer in any letter case", async () => {
      for (const scheme of ["bearer", "BEARER", "bEaReR"]) {
        expect((await send(operation, { headers: { Authorization: `${scheme} ${key}` } })).status).not.toBe(401);
      }
    });

    test("rejects a revoked key and an expired one", async () => {
      const { record, key: ended } = await service.newAccountWithKey("enterprise", undefined, [...scopes]);
      expect((await send(operation, { key: ended })).status).not.toBe(401);
      const { key: successor } = await service.app.keys.rotateKey(record.id, 5_000, service.clock.now());
      service.clock.advance(4_999);
      expect((await send(operation, { key: ended })).status).not.toBe(401);
      service.clock.advance(1);
      expect((await send(operation, { key: ended })).json.code).toBe("invalid_api_key");
      expect((await send(operation, { key: successor })).status).not.toBe(401);

      const revoked = await service.newAccountWithKey("enterprise", undefined, [...scopes]);
      await service.app.keys.revokeKey(revoked.record.id, service.clock.now());
      expect((await send(operation, { key: revoked.key })).json.code).toBe("invalid_api_key");
    });

    if (operation.scopes.length === 0) {
      test("accepts a key without scopes", async () => {
        const weak = await service.newKey("enterprise", undefined, []);
        expect((await send(operation, { key: weak })).status).not.toBe(403);
      });
    } else {
      test.each(operation.scopes)("rejects a key without the scope %s", async (needed) => {
        const others = scopes.filter((scope) => scope !== needed);
        const weak = await service.newKey("enterprise", undefined, others);
        const { status, json, headers } = await send(operation, { key: weak });
        expect([status, json.code]).toEqual([403, "insufficient_scope"]);
        expect(headers.get("www-authenticate")).toBe(
          `Bearer realm="petstore", error="insufficient_scope", scope="${operation.scopes.join(" ")}"`,
        );
      });
    }

    test("refuses a query parameter that it does not have", async () => {
      const { status, json } = await service.call(operation.method, `${pathOf(operation)}?zzz=1`, {
        ...validCall(operation),
        key,
      });
      expect([status, json.code]).toEqual([400, "invalid_request"]);
      expect(json.details[0].path).toBe("/query/zzz");
    });

    // How faults are reported does not depend on the operation.
    if (isLongRun || isFirstOfMethod(operation)) {
      test.each([1, 7, 8, 9, 49, 50, 51, 1000])("refuses %d query parameters that it does not have", async (many) => {
        const query = Array.from({ length: many }, (_, index) => `z${index}=1`).join("&");
        const { status, json } = await service.call(operation.method, `${pathOf(operation)}?${query}`, {
          ...validCall(operation),
          key,
        });
        expect(status).toBe(400);
        expect(json.details.map(({ path }: { path: string }) => path)).toEqual(
          Array.from({ length: Math.min(many, 50) }, (_, index) => `/query/z${index}`),
        );
      });

      test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
        "refuses a query parameter named %s",
        async (name) => {
          const { status, json } = await service.call(operation.method, `${pathOf(operation)}?${name}=1`, {
            ...validCall(operation),
            key,
          });
          expect([status, json.details[0].path]).toEqual([400, `/query/${name}`]);
        },
      );

      test("limits the number and length of reported faults", async () => {
        const name = "%F0%9F%90%95".repeat(40);
        for (const query of ["z&".repeat(7000), "%&".repeat(7000), `${name}&`.repeat(20)]) {
          const { status, json, text } = await service.call(operation.method, `${pathOf(operation)}?${query}`, {
            ...validCall(operation),
            key,
          });
          expect(status).toBe(400);
          expect(json.details.length).toBeLessThanOrEqual(50);
          expect(text.length).toBeLessThan(16_000);
        }
      });

      test("reports a wrong name as a JSON Pointer, in Unicode", async () => {
        const query = `${"x".repeat(63)}%F0%9F%90%95=1&a~b/c=%zz&d~e=1&d~e=1`;
        const { json } = await service.call(operation.method, `${pathOf(operation)}?${query}`, {
          ...validCall(operation),
          key,
        });
        const paths = json.details.map(({ path }: { path: string }) => path);
        expect(paths).toEqual(["/query/a~0b~1c", `/query/${"x".repeat(63)}\ufffd`, "/query/d~0e"]);
      });
    }

    test("returns the limits in its headers, and enforces them", async () => {
      const small = await service.newKey("enterprise", { perMinute: 2, perDay: 10 }, [...scopes]);
      const most = operation.separateQuota === "sandbox" ? sandboxQuota.perMinute : 2;
      const remaining: (string | null)[] = [];
      for (let count = 0; count < most; count++) {
        const { headers } = await send(operation, { key: small });
        expect(headers.get("x-ratelimit-limit")).toBe("2");
        remaining.push(headers.get("x-ratelimit-remaining"));
      }
      expect(remaining).toEqual(operation.separateQuota ? Array(most).fill("2") : ["1", "0"]);
      const { status, json, headers } = await send(operation, { key: small });
      expect([status, json.code]).toEqual([429, "rate_limit_exceeded"]);
      expect(headers.get("x-ratelimit-remaining")).toBe("0");
      const wait = Number(headers.get("retry-after"));
      expect(wait).toBe(60);
      expect(Number(headers.get("x-ratelimit-reset"))).toBe(Math.ceil(service.clock.now() / 1000) + wait);
      service.clock.advance(wait * 1000);
      expect((await send(operation, { key: small })).status).not.toBe(429);
    });

    if (operation.separateQuota) {
      /** The statuses of a request that was admitted: success, or the error for a resource that does not exist. */
      const statuses = [operation.response.status, operation.params?.invalidError.status];
      /** Uses up the minute of a new key. Returns the key, and a function that sends one more counted request with it. */
      const useUp = async () => {
        const spent = await service.newKey("enterprise", { perMinute: 30, perDay: 1_000 }, [...scopes]);
        await Promise.all(Array.from({ length: 10 }, () => send(operation, { key: spent })));
        const other = () => service.call("GET", "/pets", { key: spent });
        expect((await other()).headers.get("x-ratelimit-remaining")).toBe("29");
        await Promise.all(Array.from({ length: 30 }, other));
        return { spent, other };
      };

      test("uses no quota, and responds to a key whose windows are used up", async () => {
        const { spent } = await useUp();
        const whenUsedUp = await send(operation, { key: spent });
        expect(statuses).toContain(whenUsedUp.status);
        expect(whenUsedUp.headers.get("x-ratelimit-remaining")).toBe("0");
      });

      test("responds to a banned key", async () => {
        const { spent, other } = await useUp();
        service.clock.advance(1_000);
        for (let strike = 0; strike < 20; strike++) await other();
        expect((await other()).json.code).toBe("key_banned");
        const whenBanned = await send(operation, { key: spent });
        expect(statuses).toContain(whenBanned.status);
        expect(whenBanned.headers.get("x-ratelimit-remaining")).toBe("0");
        expect(whenBanned.headers.get("x-ratelimit-reset")).toBe(String(Math.ceil(service.clock.now() / 1000) + 60));
      });
    }

    test("returns its method for OPTIONS, without a key and without counting", async () => {
      const responses = await Promise.all(
        Array.from({ length: isLongRun || isFirstOfMethod(operation) ? 70 : 1 }, () =>
          service.call("OPTIONS", pathOf(operation), {
            headers: { Origin: "https://shop.test", "Access-Control-Request-Method": "GET" },
          }),
        ),
      );
      for (const { status, headers, text } of responses) {
        expect([status, text]).toEqual([204, ""]);
        expect(headers.get("allow")?.split(", ")).toContain(operation.method);
        expect(headers.get("access-control-allow-methods")).toBe(`${headers.get("allow")}, *`);
        const accepted = headers.get("access-control-allow-headers")?.toLowerCase().split(", ") ?? [];
        expect(sendable.filter((name) => !accepted.includes(name))).toEqual([]);
        const isPatched = headers.get("allow")?.includes("PATCH");
        expect(headers.get("accept-patch")).toBe(isPatched ? patchTypes : null);
      }
    });

    if (operation.method === "GET") {
      test("answers HEAD like GET, without the body", async () => {
        const [get, head] = await whileUnchanged(operation, key, () =>
          service.call("HEAD", pathOf(operation), { key }),
        );
        expect([head.status, head.text]).toEqual([get.status, ""]);
        expect(commonHeaders(head)).toEqual(commonHeaders(get));
      });

      if (!isCacheable(operation)) {
        test("has no entity tag", async () => {
          const reader = operation.params ? await keyOfFilledShop() : key;
          expect((await send(operation, { key: reader })).headers.get("etag")).toBeNull();
        });
      } else if (!findNothing.has(operation.name)) {
        test("returns 304 for its entity tag", async () => {
          const reader = operation.params ? await keyOfFilledShop() : key;
          const sendFor = (tags: string) => send(operation, { key: reader, headers: { "If-None-Match": tags } });
          const [, responses] = await whileUnchanged(operation, reader, ({ headers }) => {
            const tag = headers.get("etag");
            return Promise.all([`${tag}`, `W/${tag}`, `"other", ${tag}`, "*"].map(sendFor));
          });
          for (const { status, text } of responses) expect([status, text]).toEqual([304, ""]);
          expect((await sendFor('"other"')).status).toBe(200);
        });
      }
    }

    if (operation.body) {
      test("refuses a body of another type", async () => {
        for (const type of ["text/plain", "application/xml", "application/jsonx", "application/json; charset=latin1"]) {
          const { status, json, headers } = await send(operation, { key, headers: { "Content-Type": type } });
          expect([type, status, json.code]).toEqual([type, 415, "unsupported_media_type"]);
          expect(headers.get("accept-patch")).toBe(operation.method === "PATCH" ? patchTypes : null);
        }
      });

      test("refuses a body without a type", async () => {
        const response = await fetch(service.app.base + pathOf(operation), {
          method: operation.method,
          headers: { Authorization: `Bearer ${key}` },
          body: new Uint8Array([0x7b, 0x7d]),
        });
        expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
          415,
          "unsupported_media_type",
        ]);
      });

      test.each(["application/json; charset=utf-8", "Application/JSON", "application/json;charset=UTF-8"])(
        "takes a body of type %s",
        async (type) => {
          const { status } = await send(operation, { key, headers: { "Content-Type": type } });
          expect(acceptedStatuses(operation, operations)).toContain(status);
        },
      );

      test("refuses a body with a content encoding", async () => {
        const { status } = await send(operation, { key, headers: { "Content-Encoding": "gzip" } });
        expect(status).toBe(415);
      });

      test("refuses a body above its limit, with a length and without", async () => {
        const { bytes } = operation.body?.limits ?? bodyLimits;
        const large = new TextEncoder().encode(`{"name":"${"x".repeat(bytes)}"}`);
        expect((await send(operation, { key, body: large })).status).toBe(413);
        const chunked = await fetch(service.app.base + pathOf(operation), {
          method: operation.method,
          headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
          body: new Blob([large]).stream(),
        });
        expect([chunked.status, ((await chunked.json()) as { code: string }).code]).toEqual([413, "payload_too_large"]);
      });

      test("refuses a missing body, unless it is optional", async () => {
        const { status, json } = await send(operation, { key, body: "" });
        const missing = [{ path: "/body", message: "is missing; send a JSON object" }];
        expect(status === 400 ? json.details : undefined).toEqual(operation.body?.optional ? undefined : missing);
      });
    }

    // A stream continues, so that nobody can tell whether there is more to come.
    if (!operation.body && !operation.response.stream) {
      test("treats an empty object as no body, because many clients send it", async () => {
        for (const body of ["", "{}", "{ }", " \r\n\t{\r\n}\n"]) {
          const { status } = await sendBytes(operation, body);
          expect([body, [400, 408, 413, 415].includes(status)]).toEqual([body, false]);
        }
      });
    }

    // The runtime hands over no body of a GET: it is ignored.
    if (!operation.body && operation.method !== "GET") {
      test("refuses any other body", async () => {
        const faults = [{ path: "/body", message: "must be empty for this operation" }];
        for (const body of [
          " ",
          "[]",
          "null",
          "0",
          "x",
          '""',
          '{"a":1}',
          "{}{}",
          "{},",
          "\u00a0{}",
          "{",
          " ".repeat(65_536),
        ]) {
          const { status, details } = await sendBytes(operation, body, ["Content-Type: application/json"]);
          expect([body, status, details]).toEqual([body, 400, faults]);
        }
        expect((await sendBytes(operation, " ".repeat(65_537))).status).toBe(413);
      });
    }

    if (takesIdempotencyKey(operation)) {
      test("rejects an invalid Idempotency-Key", async () => {
        for (const wrong of ["", "a b", "x".repeat(256)]) {
          const { status, json } = await send(operation, { key, headers: { "Idempotency-Key": wrong } });
          expect([status, json.details?.[0].path]).toEqual([400, "/header/Idempotency-Key"]);
        }
      });

      test("returns the same response to a retry with the same Idempotency-Key", async () => {
        const [first, again] = [
          await send(operation, { key, headers: { "Idempotency-Key": "again" } }),
          await send(operation, { key, headers: { "Idempotency-Key": '"again"' } }),
        ];
        expect(acceptedStatuses(operation, operations)).toContain(first.status);
        expect([again.status, again.text]).toEqual([first.status, first.text]);
        for (const name of ["location", "etag", "link", "content-type"]) {
          expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)]);
        }
        expect([first, again].map((response) => response.headers.get("idempotent-replayed"))).toEqual([null, "true"]);
      });
    } else {
      test("ignores an Idempotency-Key", async () => {
        for (let count = 0; count < 2; count++) {
          const response = await send(operation, { key, headers: { "Idempotency-Key": "a b" } });
          expect(response.status).not.toBe(400); // an operation that reads the header refuses this value with 400
          expect(response.headers.get("idempotent-replayed")).toBeNull();
        }
      });
    }

    if (operation.deprecation) {
      const { removal } = operation.deprecation;

      test("declares its deprecation on every status", async () => {
        const responses = [
          await send(operation, { key }),
          await send(operation),
          await send(operation, { key: "wrong" }),
          await service.call(operation.method, `${pathOf(operation)}?zzz=1`, { key }),
          await send(operation, { key: await service.newKey("enterprise", undefined, []) }),
        ];
        for (const { headers } of responses) {
          expect(headers.get("deprecation")).toMatch(/^@[0-9]+$/);
          expect(Date.parse(headers.get("sunset") ?? "")).toBe(Date.parse(removal));
          expect(headers.get("link")).toContain('rel="deprecation"');
          expect(headers.get("link")).toContain('rel="successor-version"');
        }
      });
    }
  });
}
