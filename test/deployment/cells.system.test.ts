// Two cells behind one proxy, which finds the cell of each request by its key.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateApiKey } from "../../src/domains/keys/api-key.ts";
import { Authority, canCertify } from "../harness/certificates.ts";
import { freePort } from "../harness/free-port.ts";
import { newKeyIn } from "../harness/keys.ts";
import { newDataDir, Program, runJson } from "../harness/program.ts";
import { read } from "./files.ts";
import { hasNginx, Proxy } from "./proxy.ts";

/** Two cells whose names differ only in case. */
const cells = ["aB", "Ab"] as const;

describe.skipIf(!hasNginx || !canCertify)("behind nginx-cells.conf", () => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-cells-"));
  const programs: Program[] = [];
  const settings: Record<string, string>[] = [];
  const keys: string[] = [];
  let proxy: Proxy | undefined;

  beforeAll(async () => {
    let site = read("deploy/proxy/nginx-cells.conf");
    for (const [index, cell] of cells.entries()) {
      const own = { PETSTORE_ENV: "production", PETSTORE_CELL: cell, PETSTORE_BASE_URL: "https://localhost/v1" };
      settings.push(own);
      const dataDir = newDataDir();
      const program = await Program.start(dataDir, { ...own, PETSTORE_TRUSTED_PROXIES: "127.0.0.1" });
      programs.push(program);
      keys.push((await newKeyIn(dataDir, { plan: "business", settings: own })).key);
      site = site
        .replace(`"~^0${index}$"`, `"~^${cell}$"`)
        .replaceAll(`10.0.${index}.11:8080`, `127.0.0.1:${program.port}`);
    }
    const authority = await Authority.make(folder);
    const certificate = { ...(await authority.certify("DNS:localhost")), ca: authority.certificate };
    proxy = await Proxy.nginxSite(site, { port: freePort(), plainPort: freePort(), certificate });
  });
  afterAll(async () => {
    await proxy?.stop();
    for (const program of programs) await program.end("SIGKILL");
    rmSync(folder, { recursive: true });
  });

  const call = (authorization: string, path = "/v1/pets", init: RequestInit = {}) =>
    (proxy as Proxy).fetch(path, {
      ...init,
      headers: { ...(authorization && { Authorization: authorization }), "Content-Type": "application/json" },
    });
  const add = (key: string, name: string) =>
    call(`Bearer ${key}`, "/v1/pets", { method: "POST", body: JSON.stringify({ name, categoryId: 1 }) });
  const names = async (authorization: string) =>
    ((await (await call(authorization)).json()) as { name: string }[]).map(({ name }) => name);

  test("a request always reaches the cell of its key, however the scheme is written", async () => {
    for (const [index, cell] of cells.entries())
      expect((await add(keys[index] as string, `Rex of ${cell}`)).status).toBe(201);
    for (let round = 0; round < 10; round++) {
      for (const [index, cell] of cells.entries()) {
        for (const scheme of ["Bearer", "bearer", "BEARER  "])
          expect(await names(`${scheme} ${keys[index]}`)).toEqual([`Rex of ${cell}`]);
      }
    }
  });

  test("a key of a cell that does not exist is refused in the shape of an Error", async () => {
    const unknown = [generateApiKey("live", "zz"), generateApiKey("live", "ab"), "psk_live_", "something else"];
    for (const key of unknown) {
      const response = await call(`Bearer ${key}`);
      const body = await response.json();
      expect([response.status, body]).toEqual([
        401,
        { code: "invalid_api_key", message: expect.any(String), status: 401 },
      ]);
      expect(response.headers.get("www-authenticate")).toContain("invalid_token");
    }
  });

  test("a shop moves to another cell with its ids", async () => {
    const [from, to] = programs as [Program, Program];
    const file = join(folder, "animals.jsonl");
    await runJson(from.dataDir, ["export", file], settings[0]);
    const { accountId, key } = await newKeyIn(to.dataDir, {
      plan: "business",
      settings: settings[1],
    });
    await runJson(to.dataDir, ["import", file, "--account", accountId, "--ids", "keep"], settings[1]);
    const [old, moved] = await Promise.all([call(`Bearer ${keys[0]}`), call(`Bearer ${key}`)]);
    expect(await moved.text()).toBe(await old.text());
  });

  test("one cell that is down affects neither the other nor requests without a key", async () => {
    expect(await programs[0]?.end("SIGKILL")).toBe(137);
    for (let round = 0; round < 10; round++) {
      const failed = await call(`Bearer ${keys[0]}`);
      expect([failed.status, failed.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(await failed.json()).toEqual({ code: "storage_unavailable", message: expect.any(String), status: 503 });
      expect(await names(`Bearer ${keys[1]}`)).toEqual([`Rex of ${cells[1]}`]);
      expect((await call("")).status).toBe(401);
      expect((await call("", "/openapi.json")).status).toBe(200);
    }
  });
});
