// What `petstore doctor` finds, on real stores and servers.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { migrations } from "../../src/app/schema.ts";
import { checkClock, type Finding } from "../../src/cli/doctor-checks.ts";
import { lastChange } from "../../src/domains/shops/shops.statements.ts";
import { damageTable } from "../harness/damage-table.ts";
import { freePort } from "../harness/free-port.ts";
import { newKeyIn } from "../harness/keys.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { newDataDir, Program, runCommand } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";
import { hasValkey, ValkeyServer } from "../harness/valkey-server.ts";
import { secretKey } from "../harness/webhook-service.ts";

/** The status, and the findings by the name of the check. */
async function examine(dataDir: string, settings: Record<string, string> = {}) {
  const { status, stdout } = await runCommand(dataDir, ["doctor", "--json"], {
    PETSTORE_PORT: String(freePort()),
    ...settings,
  });
  const { checks } = JSON.parse(stdout) as { checks: Finding[] };
  for (const { state, advice } of checks) expect(advice === undefined).toBe(state === "ok");
  return { status, found: Object.fromEntries(checks.map((finding) => [finding.check, finding])), checks };
}

describe("petstore doctor", () => {
  test("passes alongside a running service and before the first start", async () => {
    const dataDir = newDataDir();
    const before = await examine(dataDir, { PETSTORE_BACKUP_EVERY: "1d" });
    expect([before.status, before.checks.filter(({ state }) => state !== "ok")]).toEqual([0, []]);
    expect(before.found["store"]?.message).toEndWith("yet. The first start makes it.");
    const program = await Program.start(dataDir);
    const { status, found, checks } = await examine(dataDir, {
      PETSTORE_BACKUP_EVERY: "1d",
      HTTP_PROXY: "http://127.0.0.1:9", // not used for this machine
    });
    expect([status, checks.filter(({ state }) => state !== "ok")]).toEqual([0, []]);
    expect(found["store"]?.message).toMatch(/petstore\.db, SQLite 3\./);
    // The service has another port than the settings of the command: it has noted its own in the folder.
    expect(found["service"]?.message).toBe(`It is ready at 127.0.0.1, port ${program.port}.`);
    expect((await runCommand(dataDir, ["health"], { PETSTORE_PORT: String(freePort()) })).stdout).toBe("ready\n");
    expect(found["disk"]?.message).toEndWith(" and its temporary files.");
    expect(found["backups"]?.message).toStartWith(
      `There is none in ${dataDir}/backups, on the disk of the store, yet.`,
    );
    expect(found["base address"]?.message).toBe(`${program.base} leads to the service.`);
    const { stdout } = await runCommand(dataDir, ["doctor"]);
    expect(stdout).toMatch(/^CHECK +STATE +FINDING\nsettings +ok +All are valid/);
    expect(stdout).toMatch(/\nbackups +warning +None are taken by the service\.\n +→ Set PETSTORE_BACKUP_EVERY/);
    expect(await program.end()).toBe(0);
  });

  test("reports each invalid setting", async () => {
    const { status, checks } = await examine(newDataDir(), { PETSTORE_PORT: "many", PETSTORE_POTR: "1" });
    expect([status, checks.map(({ check, state }) => [check, state])]).toEqual([
      1,
      [
        ["settings", "failed"],
        ["settings", "failed"],
      ],
    ]);
  });

  test("reports an unreadable store, an old backup, and proxies that trust every address", async () => {
    const dataDir = newDataDir();
    writeFileSync(join(dataDir, "petstore.db"), "no database at all, but long enough to be read as one".repeat(100));
    mkdirSync(join(dataDir, "backups"));
    const old = join(dataDir, "backups/petstore-2026-01-01T00-00-00-000Z.db");
    writeFileSync(old, "");
    utimesSync(old, 0, 0);
    const { status, found } = await examine(dataDir, {
      PETSTORE_BACKUP_EVERY: "1d",
      PETSTORE_TRUSTED_PROXIES: "0.0.0.0/0,::/00",
      PETSTORE_DATABASE_URL: "",
    });
    expect(status).toBe(1);
    expect(found["store"]?.state).toBe("failed");
    expect(found["backups"]).toMatchObject({
      state: "warning",
      message: expect.stringContaining("2026-01-01") as string,
    });
    expect(found["proxies"]).toMatchObject({
      state: "failed",
      message: expect.stringMatching(/^0\.0\.0\.0\/0, ::\/00 trusts every client/) as string,
    });
  });

  test.each(["shops", "webhook_endpoints", "store_environment", "petstore_steps"])(
    "reports a store whose table %s is damaged, and examines the rest",
    async (table) => {
      const dataDir = newDataDir();
      const file = join(dataDir, "petstore.db");
      await newKeyIn(dataDir);
      damageTable(file, table);
      const { status, found } = await examine(dataDir, { PETSTORE_BACKUP_EVERY: "1d" });
      const message = `The store at ${file} cannot be read: database disk image is malformed.`;
      expect([status, found["store"]]).toMatchObject([1, { state: "failed", message }]);
      expect([found["disk"]?.state, found["backups"]?.state]).toEqual(["ok", "ok"]);
    },
  );

  test("reports a store with an older schema, which no command changes", async () => {
    const dataDir = newDataDir();
    const production = { PETSTORE_ENV: "production" };
    await newKeyIn(dataDir, { settings: production });
    const file = join(dataDir, "petstore.db");
    const database = new Database(file);
    database.run("DELETE FROM petstore_steps");
    database.close();
    const known = migrations.length;
    expect((await examine(dataDir, production)).found["schema"]).toMatchObject({
      state: "warning",
      message: `Version 0; this release uses ${known}.`,
    });
    const reason =
      `The store at ${file} has schema 0; this release uses ${known}. Take a backup, then start the service ` +
      "on this store, which updates it.\n";
    for (const words of [
      ["keys", "list"],
      ["accounts", "create", "--name", "y", "--plan", "free"],
    ])
      expect(await runCommand(dataDir, words, production)).toMatchObject({ status: 1, stderr: reason });
  });

  test.each([
    ["data folder", "data"],
    ["store", "data/petstore.db"],
  ])("reports a %s that is a link to a missing disk, on which no command makes a store", async (_, name) => {
    const folder = newDataDir();
    const [dataDir, link, target] = [join(folder, "data"), join(folder, name), join(folder, "disk")];
    if (link !== dataDir) mkdirSync(dataDir);
    symlinkSync(target, link);
    const reason =
      `The store at ${join(dataDir, "petstore.db")} cannot be opened: ${link} is a link to ${target}, ` +
      "which is missing. Mount its disk, or change the link.";
    expect((await examine(dataDir)).found["store"]).toMatchObject({ state: "failed", message: reason });
    for (const [words, message] of [
      [["serve"], reason],
      [["accounts", "list"], reason],
      [["accounts", "create", "--name", "Shop", "--plan", "free"], reason],
      [["restore", "backup.db", "--yes"], link],
    ] as const) {
      const { status, stderr } = await runCommand(dataDir, words);
      expect([words[0], status, stderr]).toEqual([words[0], 1, expect.stringContaining(message)]);
    }
    expect(readdirSync(folder)).toEqual(["data"]);
  });

  test("reports a store of another environment, a base address without TLS, and one that does not respond", async () => {
    const dataDir = newDataDir();
    const program = await Program.start(dataDir);
    const settings = { PETSTORE_ENV: "production", PETSTORE_PORT: String(program.port) };
    const { status, found } = await examine(dataDir, settings);
    expect([status, found["environment"]?.state, found["base address"]?.state]).toEqual([1, "failed", "warning"]);
    const lost = await examine(dataDir, { ...settings, PETSTORE_BASE_URL: "https://petstore.invalid/v1" });
    expect(lost.found["base address"]?.message).toStartWith("https://petstore.invalid/v1: ");
    expect(lost.found["proxies"]?.state).toBe("warning");
    await program.end();
  });

  test.each([
    ["a page", "HTTP/1.1 404 Not Found\r\nContent-Length: 15\r\n\r\n<h1>Lost</h1>\r\n"],
    ["JSON without a status", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull"],
    ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n"],
  ])("reports another program on the port of the service that sends %s", async (_, sent) => {
    const other = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data: (socket) => void socket.end(sent) },
    });
    const settings = { PETSTORE_PORT: String(other.port) };
    const dataDir = newDataDir();
    const { status, found } = await examine(dataDir, settings);
    const health = await runCommand(dataDir, ["health"], settings);
    other.stop(true);
    expect([status, found["service"]]).toEqual([
      1,
      {
        check: "service",
        state: "failed",
        message: `Another program responds at 127.0.0.1, port ${other.port}.`,
        advice: "Stop it, or set another PETSTORE_PORT.",
      },
    ]);
    expect([health.status, health.stderr]).toEqual([1, `another program at 127.0.0.1, port ${other.port}\n`]);
  });

  test("reports a service that accepts connections but does not respond, such as one that is frozen", async () => {
    const frozen = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const { status, found } = await examine(newDataDir(), { PETSTORE_PORT: String(frozen.port) });
    frozen.stop(true);
    expect([status, found["service"]?.state]).toEqual([1, "failed"]);
    expect(found["service"]?.message).toEndWith("but nothing responds within 3 s.");
    expect(found["base address"]?.message).toEndWith("because the service does not respond.");
  });

  test.each([
    [0, "one that does not respond", { data() {} }],
    [1, "one that responds", { data: (socket: Bun.Socket) => void socket.end("HTTP/1.1 503 No\r\n\r\n") }],
    [1, "one that is not there", undefined],
  ])("`health --hung` ends with %d for %s", async (expected, _whose, socket) => {
    const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: socket ?? { data() {} } });
    if (!socket) other.stop(true);
    const { status } = await runCommand(newDataDir(), ["health", "--hung"], { PETSTORE_PORT: String(other.port) });
    other.stop(true);
    expect(status).toBe(expected);
  });

  test.skipIf(!hasValkey)("reports whether Valkey responds and may evict counts", async () => {
    const server = await ValkeyServer.start();
    const settings = { PETSTORE_VALKEY_URL: server.url };
    const valkey = async () => (await examine(newDataDir(), settings)).found["valkey"];
    expect(await valkey()).toMatchObject({ message: expect.stringMatching(/(Valkey|Redis) \d/) as string });
    for (const policy of ["allkeys-lru", "volatile-ttl"]) {
      await server.command("CONFIG", "SET", "maxmemory-policy", policy);
      expect(await valkey()).toMatchObject({
        state: "warning",
        message: expect.stringContaining(`It may drop counts (${policy}).`) as string,
      });
    }
    server.freeze();
    expect(await valkey()).toMatchObject({
      state: "failed",
      message: `127.0.0.1:${server.port}: The server did not respond in time.`,
    });
    await server.stop();
    expect(await valkey()).toMatchObject({
      state: "failed",
      message: expect.stringContaining(`127.0.0.1:${server.port}: `) as string,
    });
  });

  test.skipIf(!hasValkey || postgresMissing !== undefined)(
    "compares the clock of each server at the time of its answer, however long another server takes",
    async () => {
      const [valkey, server] = [await ValkeyServer.start(), await PostgresServer.start()];
      const settings = { PETSTORE_DATABASE_URL: server.url(await server.newDatabase()) };
      const dataDir = newDataDir();
      await runCommand(dataDir, ["accounts", "create", "--name", "Corner shop", "--plan", "pro"], settings);
      const session = await new SQL(settings.PETSTORE_DATABASE_URL).reserve();
      await session.unsafe("BEGIN; LOCK TABLE webhook_endpoints");
      const { found } = await examine(dataDir, { ...settings, PETSTORE_VALKEY_URL: valkey.url });
      await session.unsafe("ROLLBACK");
      await server.remove();
      await valkey.stop();
      expect([found["store"]?.state, found["clock"]]).toEqual([
        "failed", // the statement that waits for the lock
        { check: "clock", state: "ok", message: expect.stringMatching(/the same as Valkey\.$/) as string },
      ]);
    },
  );

  test.skipIf(postgresMissing !== undefined)(
    "checks PostgreSQL: without a store, with a store, and without a server",
    async () => {
      const server = await PostgresServer.start();
      const settings = { PETSTORE_DATABASE_URL: server.url(await server.newDatabase()) };
      const dataDir = newDataDir();
      expect((await examine(dataDir, settings)).found["store"]?.message).toStartWith("There is none at ");
      await runCommand(dataDir, ["accounts", "create", "--name", "Corner shop", "--plan", "pro"], settings);
      const { status, found } = await examine(dataDir, settings);
      expect([status, found["store"]?.message, found["schema"]?.state]).toEqual([
        0,
        expect.stringContaining("PostgreSQL 1") as string,
        "ok",
      ]);
      expect(found["clock"]?.message).toEndWith("the same as PostgreSQL.");
      await server.remove();
      const away = await examine(dataDir, settings);
      expect([away.status, away.found["store"]?.state]).toEqual([1, "failed"]);
    },
  );

  test.skipIf(postgresMissing !== undefined)(
    "fails, as the start of a service does, if webhook endpoints need another secret key",
    async () => {
      const server = await PostgresServer.start();
      const settings = { PETSTORE_DATABASE_URL: server.url(await server.newDatabase()) };
      const [dataDir, withKey] = [newDataDir(), { ...settings, PETSTORE_SECRET_KEY: secretKey }];
      const { key } = await newKeyIn(dataDir, { scopes: ["admin", "read"], settings });
      const program = await Program.start(dataDir, withKey);
      const endpoint = await fetch(`${program.base}/webhook-endpoints`, {
        method: "POST",
        headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
        body: JSON.stringify({ url: "https://example.org/hook" }),
      });
      expect(endpoint.status).toBe(201);
      await program.end();
      const state = async (given: Record<string, string>) => (await examine(dataDir, given)).found["secret key"]?.state;
      const otherKey = { ...settings, PETSTORE_SECRET_KEY: randomBytes(32).toString("base64") };
      expect([await state(withKey), await state(settings), await state(otherKey)]).toEqual(["ok", "failed", "failed"]);
      for (const given of [settings, otherKey]) {
        const { status, stderr } = await runCommand(dataDir, ["serve"], given);
        expect([status, stderr]).toEqual([1, expect.stringContaining("Set PETSTORE_SECRET_KEY")]);
      }
      await server.remove();
    },
  );

  test("compares the clock with servers and with the last change", () => {
    const now = Date.parse("2026-11-22T12:00:00Z");
    expect(checkClock(now, [], 0).state).toBe("ok");
    expect(checkClock(now, [{ name: "Valkey", ahead: 1_000 }], now).state).toBe("ok");
    expect(checkClock(now, [{ name: "Valkey", ahead: -9_000 }], now).message).toContain("Valkey is 9 s behind.");
    expect(checkClock(now, [], now + 60_000).message).toContain("the last change of the store was at 2026-11-22T12:01");
  });

  test("takes the last change in real time, even if it was the reset of a fast-forwarded sandbox", async () => {
    const service = await TestService.start();
    const key = await service.newKey();
    await service.call("POST", "/sandbox/fast-forward", { key, body: { seconds: 86_400 } });
    service.clock.advance(60_000);
    expect((await service.call("POST", "/sandbox/reset", { key, body: { animals: "none" } })).status).toBe(200);
    const [row] = (await service.store.rows(lastChange.sql)) as { at: bigint }[];
    expect(Number(row?.at)).toBe(service.clock.now());
    await service.stop();
  });
});
