// The proxy in front of two processes on one host.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { payloadTooLarge } from "../../src/contract/errors.ts";
import { freePort } from "../harness/free-port.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { eventually, newDataDir, Program, runJson } from "../harness/program.ts";
import { faultsWith, hasNginx, Proxy } from "./proxy.ts";

test.skipIf(!hasNginx).each(["deploy/petstore-upstream.conf", "deploy/compose-upstream.conf"])(
  "nginx takes its configuration with %s",
  (upstream) => {
    expect(faultsWith(upstream)).toBe("");
  },
);

describe.skipIf(!hasNginx || postgresMissing !== undefined)("behind the proxy", () => {
  const dataDir = newDataDir();
  const processes: Program[] = [];
  let settings: Record<string, string>[];
  let proxy: Proxy;
  let key: string;
  let server: PostgresServer;

  beforeAll(async () => {
    server = await PostgresServer.start();
    const ports = [freePort(), freePort(), freePort()] as const;
    settings = ports.slice(1).map((port) => ({
      PETSTORE_PORT: String(port),
      PETSTORE_DATABASE_URL: server.url(),
      PETSTORE_BASE_URL: `http://127.0.0.1:${ports[0]}/v1`,
      PETSTORE_TRUSTED_PROXIES: "127.0.0.1",
      PETSTORE_ENV: "production",
    }));
    for (const setting of settings) processes.push(await Program.start(dataDir, setting));
    proxy = await Proxy.nginx(ports[0], [ports[1], ports[2]]);
    const quota = ["--plan", "enterprise", "--per-minute", "1000000", "--per-day", "1000000000"];
    const { id } = await runJson(dataDir, ["accounts", "create", "--name", "Shop", ...quota], settings[0]);
    ({ key } = await runJson(dataDir, ["keys", "create", "--account", id], settings[0]));
  });
  afterAll(async () => {
    await proxy.stop();
    await Promise.all(processes.map((process) => process.end()));
    await server.remove();
  });

  const list = () => fetch(`${proxy.origin}/v1/pets`, { headers: { Authorization: `Bearer ${key}` } });
  const add = (name: string) =>
    fetch(`${proxy.origin}/v1/pets`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ name, categoryId: 1 }),
    });

  test("the API and the page are there, what is for operators is not", async () => {
    expect((await list()).status).toBe(200);
    expect((await fetch(`${proxy.origin}/docs`)).status).toBe(200);
    for (const path of ["/metrics", "/healthz", "/readyz"]) {
      const response = await fetch(proxy.origin + path);
      expect([path, response.status, response.headers.get("server")]).toEqual([path, 404, "nginx"]);
    }
  });

  test("a body that is too large is refused in the words of the service", async () => {
    const { code, status } = payloadTooLarge;
    for (const length of [65_536, 2_000_000]) {
      const response = await add("x".repeat(length));
      expect([response.status, await response.json()]).toEqual([status, { code, status, message: expect.any(String) }]);
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  test("each process is restarted under load, and no request is lost", async () => {
    const done = new AbortController();
    const statuses = new Map<number, number>();
    let added = 0;
    const client = async (name: string) => {
      for (let count = 0; !done.signal.aborted; count++) {
        const { status } = count % 2 === 0 ? await list() : await add(`${name} ${count}`);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 201) added++;
      }
    };
    const clients = Array.from({ length: 8 }, (_, index) => client(`Rex ${index}`));
    const served = () => [...statuses.values()].reduce((sum, count) => sum + count, 0);
    for (const [index, setting] of settings.entries()) {
      const before = served();
      await eventually(
        async () => served(),
        (count) => count > before + 200,
      );
      expect(await processes[index]?.end()).toBe(0);
      const next = await Program.start(dataDir, setting);
      processes[index] = next;
      await next.until(() => next.output.includes('"event":"request"')); // the proxy has found it
    }
    done.abort();
    await Promise.all(clients);
    expect(new Set(statuses.keys())).toEqual(new Set([200, 201]));
    expect(added).toBeGreaterThan(100);
  });
});
