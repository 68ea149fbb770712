// How the console is sent: from where, under which policy, and for how long browsers keep it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { App } from "../../src/app/app.ts";
import { readConfig } from "../../src/config.ts";
import { Log } from "../../src/telemetry/log.ts";
import { TestService } from "../harness/service.ts";
import { newTestStore } from "../harness/test-store.ts";

let service: TestService;
let origin: string;
let page: Response;
let files: string[];
beforeAll(async () => {
  service = await TestService.start();
  ({ origin } = new URL(service.app.base));
  page = await fetch(`${origin}/console`);
  files = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path as string);
});
afterAll(() => service.stop());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(origin + path, { headers, redirect: "manual", decompress: false });

test("the page consists of files of this service, whose names change with their content", async () => {
  expect(files.map((path) => path.replace(/-[0-9a-z]{8}\./, "-HASH."))).toEqual([
    "/console/assets/icon-HASH.svg",
    "/console/assets/console-HASH.css",
    "/console/assets/console-HASH.js",
  ]);
  for (const path of files) {
    for (const coding of ["br", "gzip", "identity"]) {
      const { status, headers } = await get(path, { "Accept-Encoding": coding });
      expect([path, status, headers.get("content-encoding") ?? "identity"]).toEqual([path, 200, coding]);
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  }
  expect((await get(files[2] as string)).headers.get("content-type")).toBe("text/javascript; charset=utf-8");
});

test("its policy allows its own files only, and no inline script or style", () => {
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toStartWith(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'",
  );
  expect(policy).not.toContain("unsafe");
  expect(page.headers.get("cache-control")).toBe("no-cache");
  expect(page.headers.get("referrer-policy")).toBe("no-referrer");
  expect(page.headers.get("x-frame-options")).toBe("DENY");
});

test("every address below it is the same page, and a file that is not there is not found", async () => {
  const text = await (await fetch(`${origin}/console`)).text();
  for (const path of ["/console/animals", "/console/animals/7", "/console/no/such/page", "/console/?status=sold"]) {
    expect([path, await (await fetch(origin + path)).text()]).toEqual([path, text]);
  }
  for (const path of ["/console/assets/console-00000000.js", "/console/assets/..%2f..%2fpackage.json"]) {
    const response = await get(path);
    expect([path, response.status]).toEqual([path, 404]);
  }
  expect((await fetch(`${origin}/console`, { method: "POST" })).status).toBe(405);
});

test("the bare address leads to it in development, and to the reference page elsewhere", async () => {
  expect((await get("/")).headers.get("location")).toBe("/console");
  const other = await TestService.start({ settings: { PETSTORE_ENV: "staging" } });
  const response = await fetch(new URL("/", other.app.base), { redirect: "manual" });
  expect(response.headers.get("location")).toBe("/docs");
  await other.stop();
});

test("below another base address its files and its requests are there, too", async () => {
  const store = await newTestStore();
  const settings = { ...store.settings, PETSTORE_PORT: "0", PETSTORE_BASE_URL: "https://shop.test/api/v1" };
  const app = await App.start(readConfig(settings), { log: new Log("error", async () => {}) });
  const local = `http://127.0.0.1:${app.port}`;
  const text = await (await fetch(`${local}/api/console/animals`)).text();
  expect(text).toContain(" /api/docs ");
  const [, script = ""] = /src="([^"]+)"/.exec(text) ?? [];
  expect(script).toStartWith("/api/console/assets/");
  expect((await fetch(local + script)).status).toBe(200);
  await app.stop();
  await store.remove();
});
