// The sites of nginx and Caddy: TLS in front of one process, and in front of three that share PostgreSQL and Valkey.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { overloaded, payloadTooLarge, storageUnavailable } from "../../src/contract/errors.ts";
import { Authority, canCertify } from "../harness/certificates.ts";
import { freePort } from "../harness/free-port.ts";
import { newKeyIn } from "../harness/keys.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { eventually, newDataDir, Program } from "../harness/program.ts";
import { readStream } from "../harness/server-sent-events.ts";
import { hasValkey, ValkeyServer } from "../harness/valkey-server.ts";
import { read } from "./files.ts";
import { hasCaddy, hasNginx, type Place, Proxy } from "./proxy.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-sites-"));
afterAll(() => rmSync(folder, { recursive: true }));

const nginx = (site: string, place: Place) => Proxy.nginxSite(site, place);
const caddy = (site: string, place: Place) => Proxy.caddySite(site, place);

const sites = [
  { file: "nginx-one.conf", processes: 1, start: nginx, canRun: hasNginx },
  { file: "nginx-three.conf", processes: 3, start: nginx, canRun: hasNginx },
  { file: "caddy-one.conf", processes: 1, start: caddy, canRun: hasCaddy },
  { file: "caddy-three.conf", processes: 3, start: caddy, canRun: hasCaddy },
];

/** The requests in progress that nginx allows a key, and an address. */
const MAX_IN_PROGRESS = 1_024;
const MAX_OF_ADDRESS = 2_048;
/** Looks like a key. */
const keyLike = (index: number) => `Bearer psk_live_00${String(index).padStart(36, "x")}`;
const HSTS = "max-age=31536000";

/** The site, with the ports of the processes in place of its addresses. */
function siteWith(file: string, programs: readonly Program[]): string {
  const addressOf = (machine = "1") => `127.0.0.1:${programs[Number(machine) - 1]?.port}`;
  return read(`deploy/proxy/${file}`)
    .replace("127.0.0.1:8080", addressOf())
    .replaceAll(/10\.0\.0\.1(\d):808[12]/g, (_whole, machine: string) => addressOf(machine));
}

/** A site without its comments and its processes. */
const rest = (file: string) =>
  read(`deploy/proxy/${file}`)
    .replaceAll(/ *#.*$/gm, "")
    .replace(/^\n*upstream petstore \{[^}]*\}/, "");

// So the tests of limits, which open thousands of connections, run with one of them.
test("the sites of nginx differ only in their processes", () => {
  expect(rest("nginx-one.conf")).toContain("include snippets/petstore-http.conf;");
  expect(rest("nginx-three.conf")).toBe(rest("nginx-one.conf"));
});

for (const { file, processes: count, start, canRun } of sites) {
  const canShare = count === 1 || (postgresMissing === undefined && hasValkey);
  describe.skipIf(!canRun || !canCertify || !canShare)(`behind ${file}`, () => {
    const dataDir = newDataDir();
    const programs: Program[] = [];
    const servers: { stop(): Promise<void> }[] = [];
    const [port, plainPort] = [freePort(), freePort()];
    let proxy: Proxy;
    let key = "";

    beforeAll(async () => {
      const settings: Record<string, string> = {
        PETSTORE_ENV: "production",
        PETSTORE_BASE_URL: `https://localhost:${port}/v1`,
        PETSTORE_TRUSTED_PROXIES: "127.0.0.1",
        ...(count > 1 && (await sharedServers())),
      };
      for (let index = 0; index < count; index++) programs.push(await Program.start(dataDir, settings));
      ({ key } = await newKeyIn(dataDir, { plan: "business", settings }));
      const authority = await Authority.make(folder);
      const certificate = { ...(await authority.certify("DNS:localhost")), ca: authority.certificate };
      proxy = await start(siteWith(file, programs), { port, plainPort, certificate });
    });
    afterAll(async () => {
      await proxy.stop();
      for (const program of programs) await program.end("SIGKILL");
      for (const server of servers) await server.stop();
    });

    async function sharedServers() {
      const [postgres, valkey] = [await PostgresServer.start(), await ValkeyServer.start()];
      servers.push({ stop: () => postgres.remove() }, valkey);
      return { PETSTORE_DATABASE_URL: postgres.url(), PETSTORE_VALKEY_URL: valkey.url };
    }
    const call = (path: string, init: RequestInit = {}) =>
      proxy.fetch(path, { ...init, headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" } });
    const post = (body: string) => call("/v1/pets", { method: "POST", body });
    const add = (name: string) => post(JSON.stringify({ name, categoryId: 1 }));

    const plain = (path: string, headers: Record<string, string> = {}) =>
      fetch(`http://127.0.0.1:${plainPort}${path}`, {
        headers: { Host: "localhost", ...headers },
        redirect: "manual",
      });

    test("the interface, the console and the reference page are there, operators' paths are not", async () => {
      expect((await add("Rex")).status).toBe(201);
      const { headers, status } = await call("/v1/pets?limit=1");
      expect([status, headers.get("x-ratelimit-limit")]).toEqual([200, "1000"]);
      expect(headers.get("strict-transport-security")).toBe(HSTS);
      for (const path of ["/docs", "/console", "/openapi.json"]) expect((await proxy.fetch(path)).status).toBe(200);
      for (const path of ["/metrics", "/healthz", "/readyz"]) expect((await proxy.fetch(path)).status).toBe(404);
    });

    test("without TLS, pages are redirected, and what may have a key is refused in the shape of an Error", async () => {
      const page = await plain("/docs?a=1");
      expect([page.status, page.headers.get("location")]).toEqual([308, "https://localhost/docs?a=1"]);
      expect(page.headers.get("strict-transport-security")).toBeNull(); // browsers ignore it there
      for (const refused of [await plain("/v1/pets"), await plain("/docs", { Authorization: `Bearer ${key}` })]) {
        const body = { code: "https_required", message: expect.any(String), status: 403 };
        expect([refused.status, refused.headers.get("location"), await refused.json()]).toEqual([403, null, body]);
        expect(refused.headers.get("content-type")).toStartWith("application/json");
      }
      const other = await plain("/docs", { Host: "evil.example" }).catch(() => undefined); // nginx does not respond
      expect(other?.headers.get("location") ?? null).toBeNull();
    });

    test("a client cannot choose the address by which it is counted", async () => {
      // Twice as many as 60 a minute: a minute may end in between.
      const responses = await Promise.all(
        Array.from({ length: 2 * 61 * count }, (_, index) =>
          proxy.fetch("/v1/pets", { headers: { "X-Forwarded-For": `198.51.100.${index}` } }),
        ),
      );
      expect(responses.map(({ status }) => status)).toContain(429);
    });

    test("a stream delivers an event at once", async () => {
      const abort = new AbortController();
      const stream = await call("/v1/events/stream", { signal: abort.signal });
      expect(stream.headers.get("content-type")).toStartWith("text/event-stream");
      const added = (await add("Tom")).json() as Promise<{ id: number }>;
      let text = "";
      const decoder = new TextDecoder();
      for await (const bytes of stream.body as unknown as AsyncIterable<Uint8Array>) {
        text += decoder.decode(bytes, { stream: true });
        const [event] = readStream(text).events;
        if (!event) continue;
        expect([event.event, JSON.parse(event.data).data.id]).toEqual(["pet.created", (await added).id]);
        break;
      }
      abort.abort();
    });

    test("a body that is too large is refused in the shape of an Error", async () => {
      const { code, status } = payloadTooLarge;
      for (const length of [65_536, 2_000_000, 20_000_000]) {
        const response = await add("x".repeat(length));
        expect([response.status, await response.json()]).toEqual([
          status,
          { code, status, message: expect.any(String) },
        ]);
        expect(response.headers.get("content-type")).toStartWith("application/json");
        expect(response.headers.get("retry-after")).toBeNull();
        expect(response.headers.get("x-request-id")).toMatch(/^[\w-]+$/);
        expect(response.headers.get("access-control-allow-origin")).toBe("*");
        expect(response.headers.get("strict-transport-security")).toBe(HSTS);
      }
    });

    /** Opens requests that never send their body: nginx counts them from their headers on. Collects its responses. */
    function hold(most: number, localAddress: string, authorizationOf: (index: number) => string) {
      const held = { refusals: "", end: () => sockets.forEach((socket) => socket.destroy()) };
      const sockets = Array.from({ length: most }, (_, index) => {
        const options = { host: "127.0.0.1", port, localAddress, servername: "localhost", rejectUnauthorized: false };
        const socket = connect(options);
        socket.on("data", (bytes: Buffer) => (held.refusals += bytes)).on("error", () => {});
        const headers = `Host: localhost\r\nAuthorization: ${authorizationOf(index)}\r\nContent-Length: 9`;
        socket.write(`POST /v1/pets HTTP/1.1\r\n${headers}\r\n\r\n`);
        return socket;
      });
      return held;
    }

    if (start === nginx && count === 1) {
      test("a client with too many requests in progress gets no more", async () => {
        const held = hold(MAX_IN_PROGRESS + 20, "127.0.0.1", () => keyLike(0));
        await eventually(() => held.refusals.includes("}"));
        const { refusals } = held;
        const { code, status } = overloaded;
        expect(refusals).toMatch(
          new RegExp(`^HTTP/1.1 ${status} [^]*?\r\n\r\n{"code":"${code}","message":"[^"]+","status":503}`),
        );
        expect(refusals).toContain("\r\nRetry-After: 1\r\n");
        expect(refusals).toMatch(/\r\nX-Request-Id: \w{32}\r\n/);
        expect((await call("/v1/pets")).status).toBe(200); // another key at the same address
        expect(refusals).toContain(`\r\nStrict-Transport-Security: ${HSTS}\r\n`);
        held.end();
        await eventually(
          () => proxy.fetch("/llms.txt"),
          (response) => response.status === 200,
        );
      });

      test.each([
        ["another key in each", keyLike],
        ["a long text in each", (index: number) => `Bearer ${String(index).padStart(230, "secret")}`],
        ["a text that is longer than nginx counts", () => `Bearer ${"secret".repeat(60)}`],
      ])(
        "an address with too many requests in progress, with %s, keeps no other out",
        async (_what, authorizationOf) => {
          const held = hold(MAX_OF_ADDRESS + 20, "127.0.0.5", authorizationOf);
          await eventually(() => held.refusals.includes("}"));
          for (let request = 0; request < 5; request++) expect((await call("/v1/pets")).status).toBe(200);
          expect((await proxy.log()).includes("secret")).toBe(false);
          held.end();
        },
      );
    }

    test("of several machines, one that is dead fails no new request", async () => {
      // Caddy repeats no request that has a body.
      const [retried, success] =
        start === nginx ? [(round: number) => add(`Max ${round}`), 201] : [() => call("/v1/pets"), 200];
      if (count > 1) await programs[0]?.end("SIGKILL");
      for (let round = 0; round < 30; round++) expect((await retried(round)).status).toBe(success);
    });

    test("without any process, the response has the shape of an Error", async () => {
      await Promise.all(programs.map((program) => program.end("SIGKILL")));
      const { code, status } = storageUnavailable;
      const response = await eventually(
        () => call("/v1/pets"),
        (one) => one.status !== 200,
      );
      expect([response.status, await response.json()]).toEqual([status, { code, status, message: expect.any(String) }]);
      expect(response.headers.get("retry-after")).toBe("1");
      expect(response.headers.get("x-request-id")).toMatch(/^[\w-]+$/);
      expect(response.headers.get("strict-transport-security")).toBe(HSTS);
    });
  });
}
