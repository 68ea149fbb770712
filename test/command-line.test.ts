import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, newDataDir, Program, runCommand, runJson } from "./harness/program.ts";

describe("the first start", () => {
  let program: Program;
  beforeAll(async () => {
    program = await Program.start(newDataDir());
  });
  afterAll(() => program.end());

  test("prints a curl line that works when it is pasted", async () => {
    const line = /^ *(curl .*)$/m.exec(program.output)?.[1] ?? "";
    const { stdout } = Bun.spawnSync(["sh", "-c", line]);
    const animals = JSON.parse(stdout.toString());
    expect(animals.length).toBeGreaterThan(0);
    expect(new Set(animals.map(({ status }: { status: string }) => status))).toEqual(new Set(["available"]));
  });

  test("shows the key once and the address of the reference page", async () => {
    const key = /psk_test_[0-9A-Za-z]{38}/.exec(program.output)?.[0] as string;
    const answer = await fetch(`${program.base}/pets?limit=100`, { headers: { Authorization: `Bearer ${key}` } });
    expect(await answer.json()).toHaveLength(6);
    expect(program.output).toContain(`Reference page: ${program.base.replace(/v1$/, "docs")}`);
    const [account] = await runJson(program.dataDir, ["accounts", "list"]);
    expect(account).toMatchObject({ plan: "business", perMinute: 1000, perDay: 100000 });
  });

  test("is not repeated on the second start", async () => {
    const dataDir = newDataDir();
    const first = await Program.start(dataDir);
    expect(await first.end()).toBe(0);
    const second = await Program.start(dataDir);
    expect(second.output).not.toContain("psk_");
    expect(await second.end()).toBe(0);
    expect(await runJson(dataDir, ["accounts", "list"])).toHaveLength(1);
  });

  test.each(["staging", "production"])("makes nothing in %s", async (name) => {
    const started = await Program.start(newDataDir(), { PETSTORE_ENV: name });
    expect(started.output).not.toContain("psk_");
    expect(await started.end()).toBe(0);
    expect(await runJson(started.dataDir, ["accounts", "list"])).toEqual([]);
  });

  test("keeps the store for its user alone", () => {
    expect(statSync(join(program.dataDir, "petstore.db")).mode & 0o077).toBe(0);
  });
});

describe("accounts and keys", () => {
  const dataDir = newDataDir();
  const settings = { PETSTORE_ENV: "production" };
  let program: Program;

  beforeAll(async () => {
    program = await Program.start(dataDir, settings);
  });
  afterAll(() => program.end());

  const get = (key: string, path = "/pets") =>
    fetch(program.base + path, { headers: { Authorization: `Bearer ${key}` } });
  /** A key of an account of its own, so that no test uses up another's limit. */
  const newKey = async (...more: string[]) => {
    const figures = ["--plan", "enterprise", "--per-minute", "1000000", "--per-day", "1000000"];
    const account = await runJson(dataDir, ["accounts", "create", "--name", "Corner shop", ...figures], settings);
    return runJson(dataDir, ["keys", "create", "--account", account.id, ...more], settings);
  };

  test("a new key works at once in a running service, a revoked one soon does not", async () => {
    const { key, id } = await newKey("--name", "till");
    expect(key).toMatch(/^psk_live_[0-9A-Za-z]{38}$/);
    expect((await get(key)).status).toBe(200);
    await runJson(dataDir, ["keys", "revoke", id], settings);
    const before = performance.now();
    await eventually(
      () => get(key),
      ({ status }) => status === 401,
    );
    expect(performance.now() - before).toBeLessThan(1_000); // the promise of the design, not a speed
  });

  test("a rotated key lives on for its overlap", async () => {
    const old = await newKey("--name", "old", "--scopes", "read");
    const rotated = await runJson(dataDir, ["keys", "rotate", old.id], settings);
    expect(rotated).toMatchObject({ name: "old", scopes: ["read"], replaced: { id: old.id } });
    expect(Date.parse(rotated.replaced.expiresAt) - Date.parse(rotated.createdAt)).toBe(24 * 3_600_000);
    expect([(await get(rotated.key)).status, (await get(old.key)).status]).toEqual([200, 200]);

    const again = await runJson(dataDir, ["keys", "rotate", rotated.id, "--overlap", "0"], settings);
    await eventually(
      () => get(rotated.key),
      ({ status }) => status === 401,
    );
    expect((await get(again.key)).status).toBe(200);
    expect((await runCommand(dataDir, ["keys", "rotate", rotated.id], settings)).stderr).toContain(
      "not valid any more",
    );
  });

  test("a key has the scopes that it was given", async () => {
    const { key } = await newKey("--scopes", "write");
    expect((await get(key)).status).toBe(403);
    const { status, stderr } = await runCommand(
      dataDir,
      ["keys", "create", "--account", "acc_any", "--scopes", "all"],
      settings,
    );
    expect([status, stderr]).toEqual([
      2,
      "--scopes has to be some of read, write, admin, separated by commas. See --help.\n",
    ]);
  });

  test("the list shows when a key was used last, and never the key", async () => {
    const { key, id, accountId } = await newKey("--name", "watched");
    const find = async () =>
      (await runJson(dataDir, ["keys", "list", "--account", accountId], settings)).find(
        (one: { id: string }) => one.id === id,
      );
    expect((await find()).lastUsedAt).toBeNull();
    await get(key);
    const used = await eventually(find, ({ lastUsedAt }) => lastUsedAt !== null);
    expect(Math.abs(Date.parse(used.lastUsedAt) - Date.now())).toBeLessThan(60_000);
    expect(JSON.stringify(used)).not.toContain(key);
    expect((await runCommand(dataDir, ["keys", "list"], settings)).stdout).not.toContain(key);
  });

  test("no key stands in the store or in the log", async () => {
    const { key } = await newKey();
    await get(key);
    await get(`${key}x`);
    await get("x", `/pets?key=${key}`);
    const files = ["petstore.db", "petstore.db-wal"].map((name) => readFileSync(join(dataDir, name), "latin1"));
    expect(files.join("")).toContain("Corner shop"); // the control: what is in the store is found
    for (const text of [...files, program.output, program.errors]) expect(text).not.toContain(key.slice(15));
  });

  test("a changed plan reaches a running service", async () => {
    const { key, accountId } = await newKey();
    expect((await get(key)).headers.get("x-ratelimit-limit")).toBe("1000000");
    await runJson(
      dataDir,
      ["accounts", "set-plan", accountId, "--plan", "enterprise", "--per-minute", "7777", "--per-day", "9999999"],
      settings,
    );
    await eventually(
      () => get(key),
      ({ headers }) => headers.get("x-ratelimit-limit") === "7777",
    );
  });

  test.each([
    [
      ["accounts", "create", "--name", "x", "--plan", "gold"],
      2,
      "--plan has to be one of free, pro, business, enterprise.",
    ],
    [["accounts", "create", "--plan", "free"], 2, "accounts create needs --name."],
    [["accounts", "create", "--name", "x", "--plan", "enterprise"], 1, "The plan enterprise needs figures"],
    [
      ["accounts", "create", "--name", "x", "--plan", "free", "--per-minute", "1", "--per-day", "1"],
      1,
      "has fixed figures",
    ],
    [
      ["accounts", "create", "--name", "x", "--plan", "enterprise", "--per-minute", "0", "--per-day", "1"],
      2,
      "at least 1",
    ],
    [["keys", "create", "--account", "acc_none"], 1, "There is no account acc_none."],
    [["keys", "revoke", "key_none"], 1, "There is no key key_none."],
    [["keys", "revoke"], 2, "keys revoke takes KEY_ID."],
    [["keys", "rotate", "key_none", "--overlap", "soon"], 2, "--overlap has to be a time"],
    [["keys", "crate"], 2, "Did you mean keys create?"],
    [["serv"], 2, "serv is not a command. Did you mean serve?"],
    [["serve", "--prot", "1"], 2, "--prot"],
  ])("%j is refused with a clear line", async (words, expected, message) => {
    const { status, stdout, stderr } = await runCommand(dataDir, words, settings);
    expect([status, stdout]).toEqual([expected, ""]);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test.each([
    [["--help"]],
    [[]],
    [["keys", "--help"]],
    [["keys", "create", "--help"]],
    [["serve", "--help"]],
    [["backup", "-h"]],
  ])("%j is helped", async (words) => {
    const { status, stdout, stderr } = await runCommand(dataDir, words, settings);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("Usage: npm run --silent petstore -- ");
  });
});

const noStore = (dataDir: string) =>
  `There is no store at ${join(dataDir, "petstore.db")}. PETSTORE_DATA_DIR says where it is.\n`;

describe("where there is no store", () => {
  test.each([
    [["accounts", "list"]],
    [["accounts", "set-plan", "acc_x", "--plan", "pro"]],
    [["keys", "list"]],
    [["keys", "create", "--account", "acc_x"]],
    [["keys", "revoke", "key_x"]],
    [["keys", "rotate", "key_x"]],
  ])("%j makes none, and says so", async (words) => {
    const dataDir = join(newDataDir(), "mistyped");
    expect(await runCommand(dataDir, words)).toEqual({ status: 1, stdout: "", stderr: noStore(dataDir) });
    expect(existsSync(dataDir)).toBe(false);
  });

  test("accounts create makes one, and tells where", async () => {
    const dataDir = join(newDataDir(), "new");
    const create = (plan: string) => runCommand(dataDir, ["accounts", "create", "--name", "x", "--plan", plan]);
    expect((await create("gold")).status).toBe(2);
    expect(existsSync(dataDir)).toBe(false);
    expect((await create("free")).stdout).toEndWith(`It is in a new store, in ${dataDir}.\n`);
    expect((await create("free")).stdout).not.toContain("new store");
  });
});

describe("a store and its environment", () => {
  const create = ["accounts", "create", "--name", "Corner shop", "--plan", "pro"];
  const newKey = async (dataDir: string, settings?: Record<string, string>) => {
    const account = await runJson(dataDir, create, settings);
    return runJson(dataDir, ["keys", "create", "--account", account.id], settings);
  };

  test("the command line makes keys for the service whose store it is, without being told", async () => {
    const program = await Program.start(newDataDir(), { PETSTORE_ENV: "production" });
    const { key, id } = await newKey(program.dataDir);
    const rotated = await runJson(program.dataDir, ["keys", "rotate", id]);
    for (const made of [key, rotated.key]) {
      expect(made).toStartWith("psk_live_");
      const { status } = await fetch(`${program.base}/pets`, { headers: { Authorization: `Bearer ${made}` } });
      expect(status).toBe(200);
    }
    await program.end();
  });

  test("a command or a service for another environment is refused with a clear line", async () => {
    const dataDir = newDataDir();
    await newKey(dataDir, { PETSTORE_ENV: "production" });
    const store = join(dataDir, "petstore.db");
    for (const [words, settings, stated] of [
      [create, { PETSTORE_ENV: "development" }, "development"],
      [["keys", "list"], { PETSTORE_ENV: "staging" }, "staging"],
      [["serve"], { PETSTORE_ENV: "staging" }, "staging"],
      [["serve"], {}, "development"],
    ] as const) {
      expect(await runCommand(dataDir, words, settings)).toEqual({
        status: 1,
        stdout: "",
        stderr:
          `The store at ${store} belongs to production, but PETSTORE_ENV is ${stated}. ` +
          "Set PETSTORE_ENV as its keys have it, or another PETSTORE_DATA_DIR.\n",
      });
    }
    const other = newDataDir();
    await newKey(other);
    const { stderr } = await runCommand(other, ["serve"], { PETSTORE_ENV: "production" });
    expect(stderr).toContain("belongs to development or staging, but PETSTORE_ENV is production.");
  });

  test("an account alone does not decide it", async () => {
    const dataDir = newDataDir();
    const account = await runJson(dataDir, create);
    const program = await Program.start(dataDir, { PETSTORE_ENV: "production" });
    expect((await runJson(dataDir, ["keys", "create", "--account", account.id])).key).toStartWith("psk_live_");
    await program.end();
  });
});

describe("the start", () => {
  test.each([
    [{ PETSTORE_PORT: "http" }, 'PETSTORE_PORT is "http", but has to be a whole number from 0 to 65535.'],
    [{ PETSTORE_ENV: "prod" }, 'PETSTORE_ENV is "prod", but has to be one of development, staging, production.'],
    [{ PETSTORE_BASE_URL: "https://shop.test/api" }, "has to be an absolute http or https address that ends with /v1."],
    [{ PETSTORE_TRUSTED_PROXIES: "10.0.0.0/33" }, "has to be a comma-separated list of IP addresses or networks"],
    [{ PETSTORE_PROT: "1" }, "PETSTORE_PROT is not a setting. Did you mean PETSTORE_PORT?"],
    [{ PETSTORE_DATA_DIR: "/dev/null/data" }, "The store at /dev/null/data/petstore.db cannot be opened"],
    [{ PETSTORE_HOST: "192.0.2.1" }, "192.0.2.1"],
  ])("stops at %j with one clear line", async (settings, message) => {
    const { status, stdout, stderr } = await runCommand(newDataDir(), ["serve"], settings);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("stops with one clear line where the port is in use", async () => {
    const program = await Program.start(newDataDir());
    const { port } = new URL(program.base);
    const { status, stdout, stderr } = await runCommand(newDataDir(), ["serve"], { PETSTORE_PORT: port });
    expect([status, stdout, stderr]).toEqual([
      1,
      "",
      `Port ${port} on 127.0.0.1 is in use. Set PETSTORE_PORT to another one.\n`,
    ]);
    await program.end();
  });

  test("stops with one clear line on a store of a newer release", async () => {
    const dataDir = newDataDir();
    await runJson(dataDir, ["accounts", "create", "--name", "x", "--plan", "free"]);
    const { Database } = await import("bun:sqlite");
    const database = new Database(join(dataDir, "petstore.db"));
    database.run("PRAGMA user_version = 9999");
    database.close();
    const { status, stderr } = await runCommand(dataDir, ["serve"]);
    expect([status, stderr.includes("was written by a newer release")]).toEqual([1, true]);
  });

  test.each([
    ["debug", ["debug", "info"]],
    ["info", ["info"]],
  ])("logs at level %s lines of the levels %j", async (level, levels) => {
    const program = await Program.start(newDataDir(), { PETSTORE_ENV: "staging", PETSTORE_LOG_LEVEL: level });
    const lines = program.output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.level)).toEqual(levels);
    const settings = { event: "settings", environment: "staging", dataDir: program.dataDir, logLevel: "debug" };
    if (level === "debug") expect(lines[0]).toMatchObject(settings);
    await program.end();
  });

  test("uses the base address that is set, in links and in the document", async () => {
    const program = await Program.start(newDataDir(), { PETSTORE_BASE_URL: "https://shop.test/api/v1" });
    const key = /psk_test_\w+/.exec(program.output)?.[0] as string;
    const listening = /"pid":([0-9]+)/.exec(program.output)?.[1];
    expect(Number(listening)).toBe(program.child.pid);
    const { port } = program;
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/pets?limit=1`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    expect(answer.headers.get("link")).toStartWith("<https://shop.test/api/v1/pets?");
    const document = (await (await fetch(`http://127.0.0.1:${port}/api/openapi.json`)).json()) as { servers: unknown };
    expect(document.servers).toEqual([{ url: "https://shop.test/api/v1", description: "development" }]);
    await program.end();
  });
});

describe("stopping", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("%s under load loses no request", async (signal) => {
    const program = await Program.start(newDataDir(), { PETSTORE_ENV: "staging" });
    const account = await runJson(
      program.dataDir,
      [
        "accounts",
        "create",
        "--name",
        "x",
        "--plan",
        "enterprise",
        "--per-minute",
        "10000000",
        "--per-day",
        "10000000",
      ],
      { PETSTORE_ENV: "staging" },
    );
    const { key } = await runJson(program.dataDir, ["keys", "create", "--account", account.id], {
      PETSTORE_ENV: "staging",
    });
    let refused = false;
    let signalled = false;
    let answered = 0;
    const broken: string[] = [];
    const client = async () => {
      while (!refused) {
        try {
          const response = await fetch(`${program.base}/pets`, {
            method: "POST",
            headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
            body: '{"name":"Rex","categoryId":1}',
          });
          await response.text();
          if (response.status === 201) answered++;
          else broken.push(String(response.status));
        } catch (error) {
          if ((error as { code?: string }).code === "ECONNREFUSED") refused = true;
          else broken.push(String((error as { code?: string }).code));
        }
        if (answered >= 500 && !signalled) {
          signalled = true;
          program.child.kill(signal);
        }
      }
    };
    await Promise.all(Array.from({ length: 16 }, client));
    expect(await program.child.exited).toBe(0);
    expect(broken).toEqual([]);
    const { Database } = await import("bun:sqlite");
    const database = new Database(join(program.dataDir, "petstore.db"), { readonly: true });
    expect(database.query("SELECT count(*) AS count FROM pets").get()).toEqual({ count: answered });
    database.close();
  });

  test("a second signal ends the service at once", async () => {
    const program = await Program.start(newDataDir());
    program.child.kill("SIGTERM");
    await program.until(() => program.output.includes('"event":"stopping"'));
    expect(await program.end("SIGTERM")).toBe(143);
  });

  test("ends within 15 seconds, though a request hangs and another process holds the store", async () => {
    const program = await Program.start(newDataDir());
    const key = /psk_test_\w+/.exec(program.output)?.[0];
    const headers = { Authorization: `Bearer ${key}` };
    const unfinished = await Bun.connect({
      hostname: "127.0.0.1",
      port: program.port,
      socket: { data: () => {} },
    });
    unfinished.write(
      `POST /v1/pets HTTP/1.1\r\nHost: petstore\r\nAuthorization: Bearer ${key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"name"',
    );
    unfinished.flush();
    const { Database } = await import("bun:sqlite");
    const database = new Database(join(program.dataDir, "petstore.db"));
    database.run("PRAGMA busy_timeout = 5000");
    database.run("BEGIN IMMEDIATE");
    expect((await fetch(`${program.base}/pets`, { headers })).status).toBe(200); // a count to be saved
    const before = performance.now();
    expect(await program.end()).toBe(0);
    expect(performance.now() - before).toBeLessThan(15_000); // the promise of the design, not a speed
    await program.until(() => program.output.includes('"level":"warn","event":"the store was not free in time"'));
    database.run("ROLLBACK");
    database.close();
    unfinished.end();
    expect(await runJson(program.dataDir, ["keys", "list"])).toHaveLength(1);
  });

  test("what was acknowledged is there after kill -9, and the day's count is at most a second old", async () => {
    const dataDir = newDataDir();
    const first = await Program.start(dataDir);
    const key = /psk_test_\w+/.exec(first.output)?.[0] as string;
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const create = (name: string) =>
      fetch(`${first.base}/pets`, { method: "POST", headers, body: JSON.stringify({ name, categoryId: 1 }) });
    const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => create(`Animal ${index}`)));
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    const { Database } = await import("bun:sqlite");
    const database = new Database(join(dataDir, "petstore.db"), { readonly: true });
    await eventually(
      async () => database.query<{ day_used: number }, []>("SELECT day_used FROM limit_windows").get()?.day_used,
      (used) => used === 100,
    );
    database.close();
    await first.end("SIGKILL");
    const second = await Program.start(dataDir);
    const response = await fetch(`${second.base}/pets?limit=100`, { headers });
    expect(
      ((await response.json()) as { name: string }[]).filter(({ name }) => name.startsWith("Animal")),
    ).toHaveLength(94);
    const left = 1000 - 101;
    expect(Number(response.headers.get("x-ratelimit-remaining"))).toBe(left);
    await second.end();
  });
});

describe("backup and document", () => {
  test("a backup beside a running service is a whole store", async () => {
    const program = await Program.start(newDataDir());
    const target = join(newDataDir(), "petstore.db");
    const report = await runJson(program.dataDir, ["backup", target]);
    expect(report).toEqual({ file: target, bytes: statSync(target).size });
    const key = /psk_test_\w+/.exec(program.output)?.[0] as string;
    const restored = await Program.start(join(target, ".."));
    const answer = await fetch(`${restored.base}/pets`, { headers: { Authorization: `Bearer ${key}` } });
    expect(await answer.json()).toHaveLength(6);
    await restored.end();
    expect((await runCommand(program.dataDir, ["backup", target])).stderr).toContain("overwrites nothing");
    await program.end();
  });

  test("a backup of nothing makes nothing", async () => {
    const dataDir = newDataDir();
    const target = join(dataDir, "copy.db");
    const { status, stderr } = await runCommand(dataDir, ["backup", target]);
    expect([status, stderr]).toEqual([1, noStore(dataDir)]);
    expect(existsSync(target)).toBe(false);
    writeFileSync(join(dataDir, "petstore.db"), "this is no database at all, but long enough to be looked at");
    expect((await runCommand(dataDir, ["backup", target])).status).toBe(1);
  });

  test("openapi prints the document that the service serves", async () => {
    const settings = { PETSTORE_BASE_URL: "https://shop.test/v1" };
    const document = await runJson(newDataDir(), ["openapi"], settings);
    const program = await Program.start(newDataDir(), settings);
    const { port } = program;
    expect(await (await fetch(`http://127.0.0.1:${port}/openapi.json`)).json()).toEqual(document);
    const yaml = await (await fetch(`http://127.0.0.1:${port}/openapi.yaml`)).text();
    expect((await runCommand(newDataDir(), ["openapi"], settings)).stdout).toBe(yaml);
    await program.end();
  });
});
