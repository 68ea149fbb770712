import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { metricsText } from "../harness/metrics.ts";
import { keyIn, newDataDir, Program, programCommand, runCommand, runJson, serveSource } from "../harness/program.ts";

const root = join(import.meta.dir, "../..");

describe("the first start", () => {
  let program: Program;
  beforeAll(async () => {
    // From the sources, in another folder, and not by npm.
    const elsewhere = ["env", "-C", newDataDir(), "-u", "npm_package_json", ...serveSource];
    program = await Program.start(newDataDir(), { PETSTORE_CELL: "b7" }, elsewhere);
  });
  afterAll(() => program.end());

  test("prints a curl command that works", async () => {
    const line = /^ *(curl .*)$/m.exec(program.output)?.[1] ?? "";
    const { stdout } = Bun.spawnSync(["sh", "-c", line]);
    const animals = JSON.parse(stdout.toString());
    expect(animals.length).toBeGreaterThan(0);
    expect(new Set(animals.map(({ status }: { status: string }) => status))).toEqual(new Set(["available"]));
  });

  test("prints a command that creates another key", async () => {
    const line = /^ *(\S.* keys create .*)$/m.exec(program.output)?.[1] ?? "";
    const { stdout } = Bun.spawnSync(["sh", "-c", line], { cwd: newDataDir() });
    const key = keyIn(stdout.toString());
    const response = await fetch(`${program.base}/pets`, { headers: { Authorization: `Bearer ${key}` } });
    expect(response.status).toBe(200);
  });

  test.each([
    ["the project's folder", root, "npm run --silent petstore --"],
    ["another folder", tmpdir(), `npm --prefix "${root}" run --silent petstore --`],
  ])("by npm from %s prints a command for that", async (_name, folder, command) => {
    const byNpm = { npm_package_json: join(root, "package.json"), INIT_CWD: folder };
    const started = await Program.start(newDataDir(), byNpm, serveSource);
    expect(started.output).toContain(` ${command} keys create`);
    expect(await started.end()).toBe(0);
  });

  test("shows the key once and the address of the reference page", async () => {
    const key = keyIn(program.output);
    const response = await fetch(`${program.base}/pets?limit=100`, { headers: { Authorization: `Bearer ${key}` } });
    expect(await response.json()).toHaveLength(24);
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

  test.each(["staging", "production"])("creates nothing in %s", async (name) => {
    const started = await Program.start(newDataDir(), { PETSTORE_ENV: name });
    expect(started.output).not.toContain("psk_");
    expect(await started.end()).toBe(0);
    expect(await runJson(started.dataDir, ["accounts", "list"])).toEqual([]);
  });

  test("makes the store readable by its user only", () => {
    const files = readdirSync(program.dataDir);
    expect(files).toContain("petstore.db-wal");
    expect(files.filter((name) => (statSync(join(program.dataDir, name)).mode & 0o077) !== 0)).toEqual([]);
  });
});

const ofProduction = { PETSTORE_BASE_URL: "https://shop.test/v1" };

describe("the start", () => {
  test.each([
    ["production without a base address", { PETSTORE_ENV: "production" }, true],
    ["production with one", { PETSTORE_ENV: "production", ...ofProduction }, false],
    ["staging without a base address of its own", { PETSTORE_ENV: "staging", ...ofProduction }, true],
    ["staging with one", { PETSTORE_ENV: "staging", PETSTORE_STAGING_BASE_URL: "https://shop.test/v1" }, false],
    ["development", { PETSTORE_ENV: "development" }, false],
  ])("logs a warning about links to a local address as expected: %s", async (_case, settings, warns) => {
    const started = await Program.start(newDataDir(), settings);
    expect(await started.end()).toBe(0);
    expect(started.output.includes('"level":"warn","event":"base_url_not_set')).toBe(warns);
  });

  test.each([
    [{ PETSTORE_PORT: "http" }, 'PETSTORE_PORT is "http", but must be a whole number from 0 to 65535.'],
    [{ PETSTORE_ENV: "prod" }, 'PETSTORE_ENV is "prod", but must be one of development, staging, production.'],
    [{ PETSTORE_BASE_URL: "https://shop.test/api" }, "must be an absolute http or https address that ends with /v1."],
    [{ PETSTORE_TRUSTED_PROXIES: "10.0.0.0/33" }, "must be a comma-separated list of IP addresses or networks"],
    [{ PETSTORE_PROT: "1" }, "PETSTORE_PROT is not a setting. Did you mean PETSTORE_PORT?"],
    [{ PETSTORE_DATA_DIR: "/dev/null/data" }, "The store at /dev/null/data/petstore.db cannot be opened"],
    [{ PETSTORE_HOST: "192.0.2.1" }, "192.0.2.1 is no address of this machine. Set PETSTORE_HOST to 127.0.0.1"],
    [{ PETSTORE_HOST: "localhots" }, "localhots is no address of this machine. Set PETSTORE_HOST to 127.0.0.1"],
  ])("fails for %j with one clear line", async (settings, message) => {
    const { status, stdout, stderr } = await runCommand(newDataDir(), ["serve"], settings);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("logs its version, also when it listens and in its metrics", async () => {
    const { version } = (await Bun.file(join(import.meta.dir, "../../package.json")).json()) as { version: string };
    const said = { status: 0, stdout: `petstore ${version}\n`, stderr: "" };
    expect(await runCommand(newDataDir(), ["--version"])).toEqual(said);
    const program = await Program.start(newDataDir());
    const lines = program.output.split("\n").filter((line) => line.startsWith("{"));
    const listening = lines.map((line) => JSON.parse(line)).find(({ event }) => event === "listening");
    expect(listening).toMatchObject({ version, runtime: `bun ${Bun.version}`, store: "sqlite", limits: "memory" });
    const metrics = await metricsText(program.base);
    expect(metrics).toContain(`\npetstore_build_info{version="${version}",runtime="bun ${Bun.version}",`);
    await program.end();
  });

  test("fails with one clear line if the port is in use", async () => {
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

  test("fails with one clear line on a store of a newer release", async () => {
    const dataDir = newDataDir();
    await runJson(dataDir, ["accounts", "create", "--name", "x", "--plan", "free"]);
    const { Database } = await import("bun:sqlite");
    const database = new Database(join(dataDir, "petstore.db"));
    database.run("INSERT INTO petstore_steps (digest) VALUES ('of a later step')");
    database.close();
    const { status, stderr } = await runCommand(dataDir, ["serve"]);
    expect([status, stderr.includes("was written by a newer release")]).toEqual([1, true]);
  });

  test.each([
    ["debug", ["info", "debug", "info"]],
    ["info", ["info", "info"]],
  ])("logs at level %s at the first start only lines of the levels %j", async (level, levels) => {
    const program = await Program.start(newDataDir(), {
      PETSTORE_ENV: "staging",
      PETSTORE_STAGING_BASE_URL: "https://staging.test/v1",
      PETSTORE_LOG_LEVEL: level,
    });
    const lines = program.output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.level)).toEqual(levels);
    const settings = { event: "settings", environment: "staging", dataDir: program.dataDir, logLevel: "debug" };
    if (level === "debug") {
      expect(lines[1]).toMatchObject(settings);
      expect(Object.values(lines[1])).not.toContain("undefined"); // settings that are not set are absent
    }
    await program.end();
  });

  test("uses the configured base address in links and in the document", async () => {
    const program = await Program.start(newDataDir(), { PETSTORE_BASE_URL: "https://shop.test/api/v1" });
    const key = keyIn(program.output);
    const listening = /"pid":([0-9]+)/.exec(program.output)?.[1];
    expect(Number(listening)).toBe(program.child.pid);
    const { port } = program;
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/pets?limit=1`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    expect(response.headers.get("link")).toStartWith("<https://shop.test/api/v1/pets?");
    const document = (await (await fetch(`http://127.0.0.1:${port}/api/openapi.json`)).json()) as { servers: unknown };
    expect(document.servers).toMatchObject([{ url: "https://shop.test/api/v1", description: "development" }]);
    await program.end();
  });
});

describe("the output of a command", () => {
  test("is complete in a pipe that does not block", async () => {
    const unblock = "use Fcntl; fcntl(STDOUT, F_SETFL, O_WRONLY | O_NONBLOCK) or die; exec @ARGV";
    const command = ["perl", "-e", unblock, ...programCommand, "openapi", "--json"];
    const { stdout } = Bun.spawnSync(["sh", "-c", '"$@" | cat', "sh", ...command]);
    expect(JSON.parse(stdout.toString()).openapi).toStartWith("3.1");
  });

  test("ends without a message if nobody reads it", async () => {
    const child = Bun.spawn(["sh", "-c", '"$@" --help | true', "sh", ...programCommand], { stderr: "pipe" });
    expect(await new Response(child.stderr).text()).toBe("");
  });
});

/** Runs a command in a shell, as `shell` says. */
const runIn = async (shell: string, dataDir: string, ...words: string[]) => {
  const child = Bun.spawn(["bash", "-c", shell, "bash", ...programCommand, ...words], {
    env: { ...process.env, PETSTORE_DATA_DIR: dataDir, PETSTORE_PORT: "0" },
    stderr: "pipe",
  });
  return { stderr: await new Response(child.stderr).text(), status: await child.exited };
};

describe("standard output that cannot be written", () => {
  const [full, closed] = ['"$@" >/dev/full', '"$@" | true; exit ${PIPESTATUS[0]}'];
  const noRoom = "There is no room for standard output.";

  test("ends a command with a message", async () => {
    expect(await runIn(full, newDataDir(), "--help")).toEqual({ status: 1, stderr: `${noRoom}\n` });
  });

  test.each([
    ["full", full, noRoom],
    ["closed", closed, "Nobody reads standard output any more."],
  ])("because it is %s does not hide that a key was created", async (_, shell, reason) => {
    const dataDir = newDataDir();
    const first = await runIn(shell, dataDir, "serve");
    const advice = "An account and its key were created, but the key was not shown. Make another: ";
    expect(first).toEqual({ status: 1, stderr: expect.stringContaining(`${reason} ${advice}`) });
    const [{ id }] = await runJson(dataDir, ["accounts", "list"]);
    expect(first.stderr).toEndWith(` keys create --account ${id} --name laptop\n`);
    const created = await runIn(shell, dataDir, "keys", "create", "--account", id);
    const rotated = await runIn(shell, dataDir, "keys", "rotate", (await runJson(dataDir, ["keys", "list"]))[1].id);
    const keys = (await runJson(dataDir, ["keys", "list"])) as { id: string }[];
    expect(keys).toHaveLength(3);
    for (const { status, stderr } of [created, rotated]) {
      const [, shown] = /The key (key_\w+) was created, but not shown: rotate or revoke it\.\n$/.exec(stderr) ?? [];
      expect([status, stderr]).toEqual([1, expect.stringContaining(reason)]);
      expect(keys.map((key) => key.id)).toContain(shown as string);
    }
  });
});

describe("backup and document", () => {
  test("a backup alongside a running service is a complete store", async () => {
    const program = await Program.start(newDataDir());
    const target = join(newDataDir(), "petstore.db");
    const report = await runJson(program.dataDir, ["backups", "take", "--file", target]);
    expect(report).toMatchObject({ file: target, bytes: statSync(target).size, deleted: [] });
    expect(statSync(target).mode & 0o077).toBe(0); // it is for its user alone, as the store is
    const key = keyIn(program.output);
    const restored = await Program.start(join(target, ".."));
    const response = await fetch(`${restored.base}/pets?limit=100`, { headers: { Authorization: `Bearer ${key}` } });
    expect(await response.json()).toHaveLength(24);
    await restored.end();
    expect((await runCommand(program.dataDir, ["backups", "take", "--file", target])).stderr).toContain(
      "overwrites nothing",
    );
    await program.end();
  });

  test("a backup without a store creates no file", async () => {
    const dataDir = newDataDir();
    const target = join(dataDir, "copy.db");
    const { status, stderr } = await runCommand(dataDir, ["backups", "take", "--file", target]);
    expect([status, stderr]).toEqual([
      1,
      `There is no store at ${join(dataDir, "petstore.db")}. PETSTORE_DATA_DIR says where it is.\n`,
    ]);
    expect(existsSync(target)).toBe(false);
    writeFileSync(join(dataDir, "petstore.db"), "this is no database at all, but long enough to be looked at");
    expect((await runCommand(dataDir, ["backups", "take", "--file", target])).status).toBe(1);
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
