import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runInProcess, runJsonInProcess } from "../harness/commands.ts";
import { stopwatch } from "../harness/cpu-time.ts";
import { newKeyIn } from "../harness/keys.ts";
import { eventually, newDataDir, Program, runCommand } from "../harness/program.ts";
import { EVERYWHERE_WITHIN } from "../harness/test-length.ts";

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
  const createKey = async (by: string, body: object) => {
    const headers = { Authorization: `Bearer ${by}`, "Content-Type": "application/json" };
    const response = await fetch(`${program.base}/keys`, { method: "POST", headers, body: JSON.stringify(body) });
    return (await response.json()) as { id: string; key: string; code?: string; expiresAt?: string };
  };
  /** The key of a new account, so that no test uses up another's limit. */
  const newKey = async (...more: string[]) => {
    const figures = ["--plan", "enterprise", "--per-minute", "1000000", "--per-day", "1000000"];
    const account = await runJsonInProcess(
      dataDir,
      ["accounts", "create", "--name", "Corner shop", ...figures],
      settings,
    );
    return runJsonInProcess(dataDir, ["keys", "create", "--account", account.id, ...more], settings);
  };

  test("a new key works at once in a running service, and a revoked one soon stops working", async () => {
    const { key, id } = await newKey("--name", "till");
    expect(key).toMatch(/^psk_live_[0-9A-Za-z]{38}$/);
    expect((await get(key)).status).toBe(200);
    await runJsonInProcess(dataDir, ["keys", "revoke", id], settings);
    const sinceRevoked = stopwatch(program.child.pid);
    await eventually(async () => (await get(key)).status === 401);
    expect(sinceRevoked()).toBeLessThan(EVERYWHERE_WITHIN);
  });

  test("a key and its successor have the given mode", async () => {
    const made = await newKey("--mode", "test");
    const rotated = await runJsonInProcess(dataDir, ["keys", "rotate", made.id], settings);
    for (const { key, mode, id, accountId } of [made, rotated]) {
      expect([mode, key.slice(0, 11)]).toEqual(["test", "psk_test_00"]);
      expect((await get(key)).status).toBe(200);
      const list = await runInProcess(dataDir, ["keys", "list", "--account", accountId], settings);
      expect(list.stdout).toMatch(new RegExp(`^${id} +${accountId} +test `, "m"));
    }
  });

  test("an account is shown and renamed", async () => {
    const { accountId } = await newKey();
    const renamed = await runJsonInProcess(dataDir, ["accounts", "rename", accountId, "Shop at the corner"], settings);
    expect(renamed).toMatchObject({ id: accountId, name: "Shop at the corner", plan: "enterprise" });
    expect(await runJsonInProcess(dataDir, ["accounts", "show", accountId], settings)).toEqual(renamed);
    const { stdout } = await runInProcess(dataDir, ["accounts", "show", accountId], settings);
    expect(stdout).toMatch(/^NAME +Shop at the corner$/m);
  });

  test("a rotated key works during its overlap", async () => {
    const old = await newKey("--name", "old", "--scopes", "read");
    const rotated = await runJsonInProcess(dataDir, ["keys", "rotate", old.id], settings);
    expect(rotated).toMatchObject({ name: "old", scopes: ["read"], replaced: { id: old.id } });
    expect([rotated, rotated.replaced].filter((key) => "plannedEnd" in key)).toEqual([]); // the one end that counts is shown
    expect(Date.parse(rotated.replaced.expiresAt) - Date.parse(rotated.createdAt)).toBe(24 * 3_600_000);
    expect([(await get(rotated.key)).status, (await get(old.key)).status]).toEqual([200, 200]);

    const again = await runJsonInProcess(dataDir, ["keys", "rotate", rotated.id, "--overlap", "0"], settings);
    await eventually(async () => (await get(rotated.key)).status === 401);
    expect((await get(again.key)).status).toBe(200);
    expect((await runInProcess(dataDir, ["keys", "rotate", rotated.id], settings)).stderr).toContain(
      "not valid any more",
    );
  });

  test("a key has the given scopes", async () => {
    const { key } = await newKey("--scopes", "write");
    expect((await get(key)).status).toBe(403);
    const { status, stderr } = await runInProcess(
      dataDir,
      ["keys", "create", "--account", "acc_any", "--scopes", "all"],
      settings,
    );
    expect([status, stderr]).toEqual([
      2,
      "--scopes must be some of read, write, admin, separated by commas. See --help.\n",
    ]);
  });

  test("a key with an end creates none that ends later, but the command line can", async () => {
    const { key, accountId } = await newKey("--scopes", "admin,read");
    const endless = await createKey(key, { name: "endless", scopes: ["admin"] });
    expect([endless.code, typeof endless.key, endless.expiresAt]).toEqual([undefined, "string", undefined]);
    const hourly = await createKey(key, { name: "for an hour", scopes: ["admin"], expiresIn: 3_600 });
    expect((await createKey(hourly.key, { name: "endless", scopes: ["admin"] })).code).toBe("lifetime_exceeds_key");
    const made = await runJsonInProcess(dataDir, ["keys", "create", "--account", accountId], settings);
    const rotated = await runJsonInProcess(dataDir, ["keys", "rotate", hourly.id], settings);
    expect([made.expiresAt, rotated.expiresAt]).toEqual([null, hourly.expiresAt]);
  });

  test("the list shows when a key was last used, and never the key", async () => {
    const { key, id, accountId } = await newKey("--name", "watched");
    const find = async () =>
      (await runJsonInProcess(dataDir, ["keys", "list", "--account", accountId], settings)).find(
        (one: { id: string }) => one.id === id,
      );
    expect((await find()).lastUsedAt).toBeNull();
    await get(key);
    const used = await eventually(find, ({ lastUsedAt }) => lastUsedAt !== null);
    expect(Math.abs(Date.parse(used.lastUsedAt) - Date.now())).toBeLessThan(60_000);
    expect(JSON.stringify(used)).not.toContain(key);
    expect((await runInProcess(dataDir, ["keys", "list"], settings)).stdout).not.toContain(key);
  });

  test("no key is in the store or in the log", async () => {
    const { key } = await newKey();
    await get(key);
    await get(`${key}x`);
    await get("x", `/pets?key=${key}`);
    const files = ["petstore.db", "petstore.db-wal"].map((name) => readFileSync(join(dataDir, name), "latin1"));
    expect(files.join("")).toContain("Corner shop"); // the control: what is in the store is found
    for (const text of [...files, program.output, program.errors]) expect(text).not.toContain(key.slice(15));
  });

  test("a running service applies a changed plan", async () => {
    const { key, accountId } = await newKey();
    expect((await get(key)).headers.get("x-ratelimit-limit")).toBe("1000000");
    await runJsonInProcess(
      dataDir,
      ["accounts", "set-plan", accountId, "--plan", "enterprise", "--per-minute", "7777", "--per-day", "9999999"],
      settings,
    );
    await eventually(async () => (await get(key)).headers.get("x-ratelimit-limit") === "7777");
  });

  test.each([
    [
      ["accounts", "create", "--name", "x", "--plan", "gold"],
      2,
      "--plan must be one of free, pro, business, enterprise.",
    ],
    [["accounts", "create", "--plan", "free"], 2, "accounts create needs --name."],
    [
      ["accounts", "create", "--name", "x", "--plan", "enterprise"],
      2,
      "--plan enterprise needs --per-minute and --per-day.",
    ],
    [
      ["accounts", "create", "--name", "x", "--plan", "free", "--per-minute", "1", "--per-day", "1"],
      1,
      "has a fixed quota",
    ],
    [
      ["accounts", "create", "--name", "x", "--plan", "enterprise", "--per-minute", "0", "--per-day", "1"],
      2,
      "--per-minute must be a whole number from 1 to 999999999999.",
    ],
    [["keys", "create", "--account", "acc_none"], 1, "There is no account acc_none."],
    [["keys", "list", "--account", "acc_none"], 1, "There is no account acc_none."],
    [["keys", "create", "--account", "First account"], 1, "`accounts list` shows the ids of accounts."],
    [["accounts", "list", "--port", "1"], 2, "accounts list has no option --port. Set the variable PETSTORE_PORT."],
    [["keys", "create", "--account", "acc_none", "--mode", "prod"], 2, "--mode must be live or test."],
    [["keys", "list", "--banned", "--account", "acc_none"], 1, "There is no account acc_none."],
    [["events", "--account", "acc_none"], 1, "There is no account acc_none."],
    [["requests", "--account", "acc_none"], 1, "There is no account acc_none."],
    [["accounts", "show", "acc_none"], 1, "There is no account acc_none."],
    [["accounts", "rename", "acc_none", "x"], 1, "There is no account acc_none."],
    [["accounts", "rename", "acc_none", ""], 2, "The name must have at least 1 character; it has 0."],
    [["keys", "create", "--account", "acc_none", "--name", "a\u2029b"], 2, "character 2 is U+2029."],
    [["keys", "revoke", "key_none"], 1, "There is no key key_none."],
    [["keys", "revoke"], 2, "keys revoke takes KEY_ID."],
    [["keys", "rotate", "key_none", "--overlap", "soon"], 2, "--overlap must be a time"],
    [["keys", "crate"], 2, "Did you mean keys create?"],
    [["serv"], 2, "serv is not a command. Did you mean serve?"],
    [["serve", "--prot", "1"], 2, "--prot"],
  ])("%j fails with a clear line", async (words, expected, message) => {
    const { status, stdout, stderr } = await runInProcess(dataDir, words, settings);
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
    [["backups", "take", "-h"]],
  ])("%j prints the help", async (words) => {
    const { status, stdout, stderr } = await runInProcess(dataDir, words, settings);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("Usage: petstore ");
    expect(stdout).not.toContain("\n\n\n");
  });
});

const noStore = (dataDir: string) =>
  `There is no store at ${join(dataDir, "petstore.db")}. PETSTORE_DATA_DIR says where it is.\n`;

describe("without a store", () => {
  test.each([
    [["accounts", "list"]],
    [["accounts", "set-plan", "acc_x", "--plan", "pro"]],
    [["accounts", "show", "acc_x"]],
    [["accounts", "rename", "acc_x", "x"]],
    [["keys", "list"]],
    [["keys", "create", "--account", "acc_x"]],
    [["keys", "revoke", "key_x"]],
    [["keys", "rotate", "key_x"]],
  ])("%j creates none, and says so", async (words) => {
    const dataDir = join(newDataDir(), "mistyped");
    expect(await runInProcess(dataDir, words)).toEqual({ status: 1, stdout: "", stderr: noStore(dataDir) });
    expect(existsSync(dataDir)).toBe(false);
  });

  test("accounts create creates one, and prints where", async () => {
    const dataDir = join(newDataDir(), "new");
    const create = (plan: string) => runInProcess(dataDir, ["accounts", "create", "--name", "x", "--plan", plan]);
    expect((await create("gold")).status).toBe(2);
    expect(existsSync(dataDir)).toBe(false);
    expect((await create("free")).stdout).toEndWith(`It is in a new store, in ${dataDir}.\n`);
    expect((await create("free")).stdout).not.toContain("new store");
    const another = join(newDataDir(), "new");
    const words = ["accounts", "create", "--name", "x", "--plan", "free"];
    expect(await runJsonInProcess(another, words)).toMatchObject({ name: "x", newStore: another });
    expect(await runJsonInProcess(another, words)).not.toHaveProperty("newStore");
  });
});

describe("a store and its environment", () => {
  const create = ["accounts", "create", "--name", "Corner shop", "--plan", "pro"];

  test("the command line uses the environment of the store by default", async () => {
    const program = await Program.start(newDataDir(), { PETSTORE_ENV: "production" });
    const { key, id } = await newKeyIn(program.dataDir);
    const rotated = await runJsonInProcess(program.dataDir, ["keys", "rotate", id]);
    for (const made of [key, rotated.key]) {
      expect(made).toStartWith("psk_live_");
      const { status } = await fetch(`${program.base}/pets`, { headers: { Authorization: `Bearer ${made}` } });
      expect(status).toBe(200);
    }
    await program.end();
  });

  test("outside production, the command line creates no live key", async () => {
    const dataDir = newDataDir();
    const { accountId } = await newKeyIn(dataDir);
    const words = ["keys", "create", "--account", accountId, "--mode", "live"];
    const refused = { status: 1, stdout: "", stderr: "Live keys exist in production only.\n" };
    expect(await runInProcess(dataDir, words)).toEqual(refused);
  });

  test("a key contains its cell, and a service of another cell rejects it", async () => {
    const dataDir = newDataDir();
    const cell = { PETSTORE_CELL: "b7" };
    const made = await newKeyIn(dataDir, { settings: cell });
    expect(made.key).toMatch(/^psk_test_b7[0-9A-Za-z]{36}$/);
    for (const [settings, expected] of [
      [cell, 200],
      [{}, 401],
    ] as const) {
      const program = await Program.start(dataDir, { ...settings, PETSTORE_ENV: "staging" });
      const { status } = await fetch(`${program.base}/pets`, { headers: { Authorization: `Bearer ${made.key}` } });
      expect(status).toBe(expected);
      await program.end();
    }
  });

  test("a command or a service for another environment fails with a clear line", async () => {
    const dataDir = newDataDir();
    await newKeyIn(dataDir, { settings: { PETSTORE_ENV: "production" } });
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
          "For the production service, set PETSTORE_ENV=production. Otherwise set another PETSTORE_DATA_DIR: to use " +
          "its animals elsewhere, export them and import them there.\n",
      });
    }
    const other = newDataDir();
    await newKeyIn(other);
    const { stderr } = await runCommand(other, ["serve"], { PETSTORE_ENV: "production" });
    expect(stderr).toContain("belongs to development or staging, but PETSTORE_ENV is production.");
  });

  test("an account alone does not set the environment", async () => {
    const dataDir = newDataDir();
    const account = await runJsonInProcess(dataDir, create);
    const program = await Program.start(dataDir, { PETSTORE_ENV: "production" });
    expect((await runJsonInProcess(dataDir, ["keys", "create", "--account", account.id])).key).toStartWith("psk_live_");
    await program.end();
  });
});
