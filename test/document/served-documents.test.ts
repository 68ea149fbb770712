// How documents, scripts and pages next to the interface are sent: compressed, remembered, and found.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { App } from "../../src/app/app.ts";
import { domains } from "../../src/app/domains.ts";
import { readConfig } from "../../src/config.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { Log } from "../../src/telemetry/log.ts";
import { exchange } from "../harness/raw-http.ts";
import { TestService } from "../harness/service.ts";
import { newTestStore } from "../harness/test-store.ts";

const operations: readonly Operation[] = domains.flatMap((domain) => domain.operations);

let service: TestService;
let origin: string;
let bundle: string;
beforeAll(async () => {
  service = await TestService.start();
  ({ origin } = new URL(service.app.base));
  bundle = /src="([^"]*reference-[^"]*)"/.exec(await (await fetch(service.app.docs)).text())?.[1] as string;
});
afterAll(() => service.stop());

/** A response as it is on the wire: `fetch` would decompress it. */
async function get(path: string, headers: Record<string, string> = {}, method = "GET") {
  const response = await fetch(origin + path, { method, headers, decompress: false, redirect: "manual" });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  identity: (bytes) => bytes,
  gzip: gunzipSync,
  br: brotliDecompressSync,
};

const fixed = () => ["/openapi.json", "/openapi.yaml", "/docs", "/docs/start.js", "/llms.txt", "/client.js", bundle];

describe("every document", () => {
  test("is sent in the encoding that the client prefers, with the same content", async () => {
    for (const path of fixed()) {
      const plain = await get(path, { "Accept-Encoding": "identity" });
      expect([path, plain.status, plain.headers.get("content-encoding")]).toEqual([path, 200, null]);
      for (const [accepted, coding] of [
        ["br", "br"],
        ["gzip", "gzip"],
        ["gzip, deflate, br, zstd", "br"],
        ["gzip;q=1.0, br;q=0.5", "gzip"],
        ["br;q=0, gzip", "gzip"],
        ["BR", "br"],
        ["*", "br"],
        ["*;q=0.5, gzip", "gzip"],
        ["identity;q=1, gzip;q=0.5", "identity"],
        ["gzip;q=0", "identity"],
        ["deflate", "identity"],
        ["br;q=none, x;;q=1", "identity"],
        ["", "identity"],
      ] as const) {
        const { headers, bytes } = await get(path, { "Accept-Encoding": accepted });
        expect([path, accepted, headers.get("content-encoding") ?? "identity"]).toEqual([path, accepted, coding]);
        expect(headers.get("vary")).toBe("Accept-Encoding");
        expect([null, String(bytes.length)]).toContain(headers.get("content-length")); // null: in pieces
        expect(decoders[coding]?.(bytes).equals(plain.bytes)).toBe(true);
        if (coding !== "identity") expect(bytes.length).toBeLessThan(plain.bytes.length);
      }
    }
  });

  test("is not compressed if the client names no encoding", async () => {
    const request = "GET /openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const [response] = await exchange(service.app.port, request, { halfCloses: true });
    expect([response?.headers.get("content-encoding"), response?.headers.get("vary")]).toEqual([
      null,
      "Accept-Encoding",
    ]);
  });

  test("has a strong entity tag for each encoding, and returns 304 to a client that has it", async () => {
    for (const path of fixed()) {
      const tags = await Promise.all(
        Object.keys(decoders).map(async (coding) =>
          (await get(path, { "Accept-Encoding": coding })).headers.get("etag"),
        ),
      );
      expect(new Set(tags).size).toBe(3);
      for (const [index, coding] of Object.keys(decoders).entries()) {
        const tag = tags[index] as string;
        expect(tag).toMatch(/^"[^"]+"$/);
        for (const sent of [tag, `W/${tag}`, `"x", ${tag}`, "*"]) {
          const { status, headers, bytes } = await get(path, { "Accept-Encoding": coding, "If-None-Match": sent });
          expect([path, sent, status, bytes.length]).toEqual([path, sent, 304, 0]);
          expect([headers.get("etag"), headers.get("vary")]).toEqual([tag, "Accept-Encoding"]);
          expect(headers.get("cache-control")).not.toBeNull();
        }
        expect((await get(path, { "Accept-Encoding": coding, "If-None-Match": '"other"' })).status).toBe(200);
      }
    }
  });

  test("is revalidated before it is used from a cache, unless its name has its version", async () => {
    for (const path of fixed()) {
      const expected = path === bundle ? "public, max-age=31536000, immutable" : "no-cache";
      expect([path, (await get(path)).headers.get("cache-control")]).toEqual([path, expected]);
    }
  });

  test("answers HEAD like GET, without the body, and no other method", async () => {
    for (const path of fixed()) {
      for (const coding of Object.keys(decoders)) {
        const [whole, head] = [
          await get(path, { "Accept-Encoding": coding }),
          await get(path, { "Accept-Encoding": coding }, "HEAD"),
        ];
        expect([head.status, head.bytes.length]).toEqual([200, 0]);
        for (const name of ["etag", "content-length", "content-type", "content-encoding", "vary", "cache-control"]) {
          expect([path, coding, name, head.headers.get(name)]).toEqual([path, coding, name, whole.headers.get(name)]);
        }
      }
      const { status, headers } = await get(path, {}, "POST");
      expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    }
  });
});

/** The links of a `Link` header by their relation. */
function linksOf({ headers }: { headers: Headers }): Record<string, string> {
  const links = headers.get("link")?.split(/, (?=<)/) ?? [];
  return Object.fromEntries(links.map((link) => /^<([^>]*)>; rel="([^"]*)"/.exec(link)?.slice(1).toReversed() ?? []));
}

describe("a client that knows only the base address", () => {
  test("gets the addresses of the documents in each response, also in a redirect or a 401", async () => {
    for (const path of ["/", "/v1", "/v1/"]) {
      for (const method of ["GET", "HEAD"]) {
        const response = await get(path, {}, method);
        const links = linksOf(response);
        expect([path, links["service-desc"], links["service-doc"]]).toEqual([path, "/openapi.json", "/docs"]);
        expect(links["api-catalog"]).toBe("/.well-known/api-catalog");
      }
    }
    expect((await get(linksOf(await get("/"))["service-desc"] as string)).status).toBe(200);
  });

  test("finds the documents under another base address, too", async () => {
    const store = await newTestStore();
    const settings = { ...store.settings, PETSTORE_PORT: "0", PETSTORE_BASE_URL: "https://shop.test/api/v1" };
    const app = await App.start(readConfig(settings), { log: new Log("error", async () => {}) });
    const local = `http://127.0.0.1:${app.port}`;
    for (const path of ["/api", "/api/", "/api/v1"]) {
      const response = await fetch(local + path, { redirect: "manual" });
      expect([path, linksOf(response)["service-desc"]]).toEqual([path, "/api/openapi.json"]);
    }
    expect(await (await fetch(`${local}/.well-known/api-catalog`)).json()).toMatchObject({
      linkset: [
        {
          anchor: "https://shop.test/api/v1",
          "service-desc": [
            { href: "https://shop.test/api/openapi.json" },
            { href: "https://shop.test/api/openapi.yaml" },
          ],
        },
      ],
    });
    await app.stop();
    await store.remove();
  });

  test("finds an API catalog (RFC 9727)", async () => {
    const { headers, bytes } = await get("/.well-known/api-catalog");
    expect(headers.get("content-type")).toBe(
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    );
    const root = origin;
    expect(JSON.parse(bytes.toString())).toEqual({
      linkset: [
        {
          anchor: service.app.base,
          "service-desc": [
            { href: `${root}/openapi.json`, type: "application/json" },
            { href: `${root}/openapi.yaml`, type: "application/yaml" },
          ],
          "service-doc": [
            { href: `${root}/docs`, type: "text/html" },
            { href: `${root}/llms.txt`, type: "text/plain" },
          ],
        },
      ],
    });
    const head = await get("/.well-known/api-catalog", {}, "HEAD");
    expect(head.status).toBe(200);
    expect(linksOf(head)).toEqual({ "api-catalog": `${root}/.well-known/api-catalog`, item: service.app.base });
  });

  test("finds a short text for language models", async () => {
    const { headers, bytes } = await get("/llms.txt");
    const text = bytes.toString();
    expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(text).toStartWith("# Petstore\n\n> ");
    for (const { name, method, path } of operations) expect(text).toContain(`\`${method} ${path}\` (${name})`);
    for (const address of [service.app.base, `${origin}/openapi.json`, service.app.docs])
      expect(text).toContain(address);
    expect(bytes.length).toBeLessThan(5_000);
  });

  test("gets an error with the usual body for an unknown path", async () => {
    for (const path of [
      "/v1",
      "/v1/",
      "/v1/nothing",
      "/nothing",
      "/.well-known/nothing",
      "/docs/nothing.js",
      "/openapi",
    ]) {
      const { status, headers, bytes } = await get(path);
      const body = JSON.parse(bytes.toString());
      expect([401, 404]).toContain(status); // below the base address, a key comes first
      expect(body).toEqual({ code: expect.any(String), message: expect.any(String), status });
      expect(headers.get("content-type")).toStartWith("application/json");
    }
  });
});
