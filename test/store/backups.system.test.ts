// Backups of the embedded store: taken while the service runs, verified, and restored. What came after a backup is
// missing after its restore, and nothing else.
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { damageTable } from "../harness/damage-table.ts";
import { newKeyIn } from "../harness/keys.ts";
import { metric } from "../harness/metrics.ts";
import { newDataDir, Program, runCommand, runJson } from "../harness/program.ts";

let dataDir: string;
let folder: string;
let settings: Record<string, string>;
let accountId: string;
let key: string;

beforeEach(async () => {
  [dataDir, folder] = [newDataDir(), newDataDir()];
  settings = { PETSTORE_BACKUP_DIR: folder };
  ({ accountId, key } = await newKeyIn(dataDir, { plan: "business" }));
});

const programs: Program[] = [];
const start = async (more: Record<string, string> = {}) => {
  const program = await Program.start(dataDir, { ...settings, ...more });
  programs.push(program);
  return program;
};
afterEach(async () => {
  for (const program of programs.splice(0)) await program.end("SIGKILL");
});

const run = (...words: string[]) => runCommand(dataDir, words, settings);
const restore = (backup: string, more: Record<string, string> = {}) =>
  runCommand(dataDir, ["restore", backup, "--yes"], { ...settings, ...more });
const file = () => join(dataDir, "petstore.db");
const isBackup = (name: string) => /^petstore-.*\.db$/.test(name);
const backups = () => readdirSync(folder).filter(isBackup).toSorted();
const add = async ({ base }: Program, name: string) => {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const body = JSON.stringify({ name, categoryId: 1 });
  expect((await fetch(`${base}/pets`, { method: "POST", headers, body })).status).toBe(201);
};
const names = async ({ base }: Program) => {
  const response = await fetch(`${base}/pets?limit=100`, { headers: { Authorization: `Bearer ${key}` } });
  return ((await response.json()) as { name: string }[]).map(({ name }) => name);
};

describe("the drill", () => {
  test("a service whose folder is lost continues from its newest backup", async () => {
    const program = await start();
    for (let number = 0; number < 20; number++) await add(program, `before ${number}`);
    const before = await names(program);
    const taken = await runJson(dataDir, ["backups", "take"], settings);
    expect(taken.rows.pets).toBe(before.length);
    for (let number = 0; number < 5; number++) await add(program, `after ${number}`);
    await program.end("SIGKILL");
    rmSync(dataDir, { recursive: true });

    const { status, stdout } = await restore(taken.file);
    expect([status, stdout]).toEqual([0, expect.stringContaining(`${before.length} animals`)]);
    const restored = await start();
    expect(await names(restored)).toEqual(before);
    await add(restored, "continues");
    expect(await names(restored)).toEqual([...before, "continues"]);
  });
});

describe("the service", () => {
  test("takes a backup at once and when the newest is too old, and keeps the configured number", async () => {
    const program = await start({ PETSTORE_BACKUP_EVERY: "1d", PETSTORE_BACKUP_KEEP: "2" });
    await program.until(() => program.output.includes('"event":"backup_taken"'));
    const [first = ""] = backups();
    expect(statSync(join(folder, first)).mode & 0o777).toBe(0o600);
    expect(await metric(program.base, "petstore_backup_newest_timestamp_seconds")).toBeGreaterThan(1_000_000_000);
    expect(await metric(program.base, "petstore_backup_interval_seconds")).toBe(86_400);
    await program.end();
    // The folder now has three backups of days before.
    const mark = markIn(first);
    const old = [`petstore-2026-01-01T00-00-00-000Z${mark}.db`, `petstore-2026-01-02T00-00-00-000Z${mark}.db`];
    for (const name of old) copyFileSync(join(folder, first), join(folder, name));
    renameSync(join(folder, first), join(folder, `petstore-2026-01-03T00-00-00-000Z${mark}.db`));
    const ofOtherStores = ["petstore-2025-01-01T00-00-00-000Z-00000000.db", "petstore-2025-01-01T00-00-00-000Z.db"];
    for (const name of ofOtherStores) writeFileSync(join(folder, name), "Of another store.");
    writeFileSync(join(folder, "notes.txt"), "Of the operator.");
    const killed = join(folder, `petstore-2026-01-03T00-00-00-000Z.db.unfinished-${process.pid}`);
    writeFileSync(killed, "Of one that was killed.");
    utimesSync(killed, 0, Date.now() / 1000 - 3_600);
    const running = "petstore-2026-01-04T00-00-00-000Z.db.unfinished-4194304";
    writeFileSync(join(folder, running), "Of one that is being taken.");
    const again = await start({ PETSTORE_BACKUP_EVERY: "1d", PETSTORE_BACKUP_KEEP: "2" });
    await again.until(() => again.output.includes('"event":"backup_taken"'));
    expect(
      readdirSync(folder)
        .filter((name) => !name.endsWith(".sha256"))
        .toSorted(),
    ).toEqual([
      "notes.txt",
      ...ofOtherStores,
      `petstore-2026-01-03T00-00-00-000Z${mark}.db`,
      running,
      expect.stringMatching(isNow),
    ]);
    expect(await again.end()).toBe(0);
  });

  test("keeps a new backup after the clock was set back, although the others seem to be newer", async () => {
    const future = ["petstore-2097-01-01T00-00-00-000Z.db", "petstore-2098-01-01T00-00-00-000Z.db"];
    for (const name of future) writeFileSync(join(folder, name), "Of the wrong time.");
    const settingsOfTwo = { ...settings, PETSTORE_BACKUP_KEEP: "2" };
    const { file: taken, deleted } = await runJson(dataDir, ["backups", "take"], settingsOfTwo);
    expect(deleted).toEqual([join(folder, future[0] ?? "")]);
    expect(backups()).toEqual([basename(taken), future[1] ?? ""]);
  });

  test("reports a backup that fails, and continues", async () => {
    writeFileSync(join(folder, "in the way"), "");
    const program = await start({ PETSTORE_BACKUP_EVERY: "1d", PETSTORE_BACKUP_DIR: join(folder, "in the way") });
    await program.until(() => program.output.includes('"event":"backup_failed"'));
    expect(await metric(program.base, "petstore_backup_failures_total")).toBe(1);
    expect(await metric(program.base, "petstore_backup_newest_timestamp_seconds")).toBe(0);
    await add(program, "Rex");
  });

  test("takes no further backup because an old one cannot be deleted, and deletes the others", async () => {
    await (await start()).end();
    const mark = markIn((await runJson(dataDir, ["backups", "take"], settings)).file);
    rmSync(join(folder, backups()[0] ?? ""));
    const old = [`petstore-2026-01-01T00-00-00-000Z${mark}.db`, `petstore-2026-01-02T00-00-00-000Z${mark}.db`] as const;
    mkdirSync(join(folder, old[1], "in the way"), { recursive: true });
    const settingsOfOne = { ...settings, PETSTORE_BACKUP_KEEP: "1" };
    const makeOld = () => writeFileSync(join(folder, old[0]), "");

    makeOld();
    const { status, stdout, stderr } = await runCommand(dataDir, ["backups", "take", "--json"], settingsOfOne);
    const { file: taken, deleted } = JSON.parse(stdout) as { file: string; deleted: string[] };
    expect([status, deleted, backups()]).toEqual([0, [join(folder, old[0])], [old[1], basename(taken)]]);
    expect(JSON.parse(stderr)).toMatchObject({
      code: "old_backup_not_deleted",
      message: expect.stringContaining(join(folder, old[1])) as string,
    });

    rmSync(taken);
    makeOld();
    const program = await start({ ...settingsOfOne, PETSTORE_BACKUP_EVERY: "1d" });
    await program.until(() => program.output.includes('"event":"old_backups_not_deleted"'));
    expect(backups()).toEqual([old[1], expect.stringMatching(isNow)]);
    expect(await metric(program.base, "petstore_backup_failures_total")).toBe(0);
    expect(await metric(program.base, "petstore_backup_newest_timestamp_seconds")).toBeGreaterThan(
      Date.now() / 1000 - 60,
    );
  });

  test("is refused on PostgreSQL, with the reason", async () => {
    const { status, stderr } = await runCommand(dataDir, ["serve"], {
      PETSTORE_BACKUP_EVERY: "1h",
      PETSTORE_DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining("PostgreSQL has its own tools for backups.")]);
  });
});

/** What is after the time in the name of a backup of a store that was served. */
const markIn = (name: string) => /Z(-[0-9a-f]{8})\.db$/.exec(name)?.[1];
const isNow = new RegExp(`^petstore-${new Date().getUTCFullYear()}-.*\\.db$`);

/** Runs SQL in a store that no service has open. */
function change(store: string, sql: string): void {
  const database = new Database(store);
  database.run(sql);
  database.close();
}

describe("backups", () => {
  test("are listed, newest first, and verified", async () => {
    expect((await run("backups", "list")).stdout).toContain("There is no backup in");
    expect((await run("backups", "verify")).status).toBe(1);
    for (let count = 0; count < 2; count++) expect((await run("backups", "take")).status).toBe(0);
    const listed = await runJson(dataDir, ["backups", "list"], settings);
    expect(listed.map((one: { file: string }) => one.file)).toEqual(
      backups()
        .toReversed()
        .map((name) => join(folder, name)),
    );
    const { status, stdout } = await run("backups", "verify");
    expect([status, stdout.match(/ is intact: 0 animals/g)?.length]).toEqual([0, 2]);
    expect(readdirSync(folder)).toHaveLength(4); // with their checksums: reading made no file
  });

  test("of a damaged store are refused, and leave no file", async () => {
    change(file(), "PRAGMA foreign_keys = OFF; UPDATE api_keys SET account_id = 'acc_missing'");
    const { status, stderr } = await run("backups", "take");
    expect([status, stderr]).toEqual([1, expect.stringContaining("a row of api_keys refers to one that is missing")]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("in a folder are not verified by the name of the folder", async () => {
    const { status, stderr } = await run("backups", "verify", "--file", dataDir);
    expect([status, stderr]).toEqual([1, `${dataDir} is a folder. Name a backup in it.\n`]);
  });

  test("are reported if a byte was changed, also where the structure stays intact", async () => {
    await newKeyIn(dataDir, { name: "Corner shop" });
    const { file: taken } = await runJson(dataDir, ["backups", "take"], settings);
    const bytes = readFileSync(taken);
    bytes.write("Korner", bytes.indexOf("Corner shop"));
    writeFileSync(taken, bytes);
    const { status, stderr } = await run("backups", "verify");
    expect([status, stderr]).toEqual([1, expect.stringContaining("its bytes are not those that were written")]);
    expect(await restore(taken)).toMatchObject({ status: 1, stderr });
    expect(Bun.spawnSync(["sha256sum", "--check", `${taken}.sha256`], { cwd: folder }).exitCode).toBe(1);
    rmSync(`${taken}.sha256`); // as of a backup that was copied without it
    expect((await run("backups", "verify")).status).toBe(0);
  });

  test("are reported if damaged, also those that open", async () => {
    const { file: taken } = await runJson(dataDir, ["backups", "take"], settings);
    damageTable(taken, "pets");
    const { status, stderr } = await run("backups", "verify");
    expect([status, stderr]).toEqual([1, expect.stringMatching(/is damaged|cannot be read as a store/)]);
    expect((await restore(taken)).status).toBe(1);
    expect(await runJson(dataDir, ["accounts", "list"])).toHaveLength(1);
  });
});

const takeBackup = async () => (await runJson(dataDir, ["backups", "take"], settings)).file as string;
const animalsIn = (store: string) => {
  const database = new Database(store);
  const pets = database.query<{ name: string }, []>("SELECT name FROM pets ORDER BY id").all();
  database.close();
  return pets.map(({ name }) => name);
};

describe("a restore", () => {
  test("is refused while a service runs, and names it", async () => {
    const backup = await takeBackup();
    const program = await start();
    await add(program, "Rex");
    const { status, stderr } = await restore(backup);
    expect([status, stderr]).toEqual([1, expect.stringContaining(`process ${program.child.pid}`)]);
    expect(await names(program)).toEqual(["Rex"]);
  });

  test("is refused while another program has the store open", async () => {
    const backup = await takeBackup();
    const other = new Database(file());
    other.query("SELECT count(*) FROM pets").get();
    const { status, stderr } = await restore(backup);
    other.close();
    expect([status, stderr]).toEqual([1, expect.stringContaining("is in use")]);
  });

  test("keeps the replaced store, including the data that only its log has", async () => {
    const backup = await takeBackup();
    const program = await start();
    await add(program, "in the log");
    await program.end("SIGKILL");
    expect(statSync(`${file()}-wal`).size).toBeGreaterThan(0);
    const { replaced } = await runJson(dataDir, ["restore", backup, "--yes"], settings);
    expect(animalsIn(file())).toEqual([]);
    expect(animalsIn(replaced)).toEqual(["in the log"]);
    expect(await names(await start())).toEqual([]);
  });

  test("removes the log of a missing store", async () => {
    const backup = await takeBackup();
    const program = await start();
    await add(program, "in the log");
    await program.end("SIGKILL");
    rmSync(file());
    expect((await restore(backup)).status).toBe(0);
    expect(existsSync(`${file()}-wal`)).toBe(false);
    expect(await names(await start())).toEqual([]);
  });

  test.each([
    ["of a newer release", "INSERT INTO petstore_steps (digest) VALUES ('of a later step')", "newer release"],
    ["of a version that was never released", "DROP TABLE petstore_steps", "never released"],
  ])("of a backup %s is refused", async (_, sql, reason) => {
    const backup = await takeBackup();
    change(backup, sql);
    const { status, stderr } = await restore(backup);
    expect([status, stderr]).toEqual([1, expect.stringContaining(reason)]);
  });

  test("of a backup of development is refused in production, and nothing is replaced", async () => {
    await (await start()).end();
    const backup = await takeBackup();
    rmSync(file());
    const { status, stderr } = await restore(backup, { PETSTORE_ENV: "production" });
    expect([status, stderr]).toEqual([1, expect.stringContaining("belongs to development or staging")]);
    expect(existsSync(file())).toBe(false);
    expect((await restore(backup)).status).toBe(0);
  });

  test("of a backup of development without PETSTORE_ENV replaces no store of production", async () => {
    await (await start()).end();
    const backup = await takeBackup();
    change(file(), "UPDATE store_environment SET environment = 'production'");
    const { status, stderr } = await restore(backup);
    const reason = `but the store at ${file()} belongs to production. Nothing was replaced.`;
    expect([status, stderr]).toEqual([1, expect.stringContaining(reason)]);
    expect((await restore(backup, { PETSTORE_ENV: "development" })).status).toBe(0);
  });

  test("of a backup of development without PETSTORE_ENV replaces no store that cannot be read", async () => {
    await (await start()).end();
    const backup = await takeBackup();
    writeFileSync(file(), "damaged".repeat(1_000));
    const { status, stderr } = await restore(backup);
    const reason = `but it is unknown whether the store at ${file()} belongs to production: set PETSTORE_ENV`;
    expect([status, stderr]).toEqual([1, expect.stringContaining(reason)]);
    expect(readFileSync(file(), "utf8")).toStartWith("damaged");
    expect((await restore(backup, { PETSTORE_ENV: "development" })).status).toBe(0);
  });

  test("of a backup of production is refused in staging, and nothing is replaced", async () => {
    await (await start({ PETSTORE_ENV: "staging" })).end();
    change(file(), "UPDATE store_environment SET environment = 'production'");
    const backup = await takeBackup();
    rmSync(file());
    const { status, stderr } = await restore(backup, { PETSTORE_ENV: "staging" });
    const reason = `${backup} belongs to production, but PETSTORE_ENV is staging. Nothing was replaced.`;
    expect([status, stderr]).toEqual([1, expect.stringContaining(reason)]);
    expect(existsSync(file())).toBe(false);
    expect((await restore(backup)).status).toBe(0);
  });

  test("to PostgreSQL is refused without a question", async () => {
    const address = { PETSTORE_DATABASE_URL: "postgres://petstore@127.0.0.1:1/petstore" };
    const { status, stderr } = await runCommand(dataDir, ["restore", "backup.db"], address);
    expect([status, stderr]).toEqual([1, expect.stringContaining("PostgreSQL has its own tools")]);
  });

  test("warns of a missing secret key if there are webhook endpoints", async () => {
    expect((await restore(await takeBackup())).stderr).toBe("");
    const program = await start();
    const { key: admin } = await runJson(dataDir, ["keys", "create", "--account", accountId, "--scopes", "admin,read"]);
    const headers = { Authorization: `Bearer ${admin}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ url: "https://example.org/hook" });
    expect((await fetch(`${program.base}/webhook-endpoints`, { method: "POST", headers, body })).status).toBe(201);
    await program.end();
    const backup = await takeBackup();
    expect((await restore(backup)).stderr).toBe("");
    rmSync(join(dataDir, "secret.key"));
    const { status, stderr } = await restore(backup);
    expect([status, stderr]).toEqual([0, expect.stringContaining("has 1 webhook endpoint. Before the start,")]);
    const secretKey = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7)).toString("base64");
    const withKey = await restore(backup, { PETSTORE_SECRET_KEY: secretKey });
    expect([withKey.status, withKey.stderr]).toEqual([0, ""]);
  });

  test("of a store that was copied without its log is refused", async () => {
    const program = await start();
    await add(program, "Rex");
    await program.end("SIGKILL");
    for (const part of ["", "-wal"]) copyFileSync(file() + part, join(folder, `copied.db${part}`));
    const { status, stderr } = await restore(join(folder, "copied.db"));
    expect([status, stderr]).toEqual([1, expect.stringContaining("petstore backups take")]);
  });

  test("of a store whose log is next to the file that a link leads to is refused, and so is its verification", async () => {
    const program = await start();
    await add(program, "Rex");
    await program.end("SIGKILL");
    const link = join(folder, "link.db");
    symlinkSync(file(), link);
    for (const words of [
      ["restore", link, "--yes"],
      ["backups", "verify", "--file", link],
    ]) {
      const { status, stdout, stderr } = await runCommand(newDataDir(), words);
      expect([status, stdout + stderr]).toEqual([1, expect.stringContaining(`${link} has a log, ${file()}-wal, with`)]);
    }
    expect(await names(await start())).toEqual(["Rex"]);
  });

  test("into a folder whose store is a link replaces the file that it leads to", async () => {
    const backup = await takeBackup();
    const program = await start();
    await add(program, "in the log");
    await program.end("SIGKILL");
    const linked = newDataDir();
    symlinkSync(file(), join(linked, "petstore.db"));
    const { replaced } = await runJson(linked, ["restore", backup, "--yes"], settings);
    expect(animalsIn(file())).toEqual([]);
    expect(animalsIn(replaced)).toEqual(["in the log"]);
  });

  test.each([
    ["that is missing", () => {}, "There is no file"],
    ["that is no store", (path: string) => writeFileSync(path, "Dear diary\n".repeat(500)), "not a database"],
    ["that is empty", (path: string) => writeFileSync(path, ""), "is empty"],
    ["that is a folder", (path: string) => mkdirSync(path), "is a folder. Name a backup in it."],
    ["that is a device", (path: string) => symlinkSync("/dev/null", path), "is not a file."],
  ])("of a file %s is refused", async (_, make, reason) => {
    const path = join(folder, "backup.db");
    make(path);
    const { status, stderr } = await restore(path);
    expect([status, stderr]).toEqual([1, expect.stringContaining(reason)]);
    expect(await runJson(dataDir, ["accounts", "list"])).toHaveLength(1);
  });

  test("that fails after it has renamed the previous store says where that is", async () => {
    const backup = await takeBackup();
    mkdirSync(`${file()}.moved`); // in the way of removing a file of this name
    const { status, stderr } = await restore(backup, { PETSTORE_ENV: "development" });
    const aside = readdirSync(dataDir).find(
      (name) => name.startsWith("petstore.db.replaced-") && !name.endsWith("-wal"),
    );
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(` The previous store is now ${join(dataDir, aside ?? "?")}.`),
    ]);
  });

  test("asks for confirmation, and does nothing without it", async () => {
    const backup = await takeBackup();
    await runJson(dataDir, ["accounts", "create", "--name", "Later", "--plan", "pro"]);
    const { status, stderr } = await run("restore", backup);
    expect([status, stderr]).toEqual([2, expect.stringContaining("Add --yes to do it.")]);
    expect(await runJson(dataDir, ["accounts", "list"])).toHaveLength(2);
  });

  test("makes the restored store readable by its owner only", async () => {
    const backup = await takeBackup();
    chmodSync(backup, 0o644);
    expect((await restore(backup)).status).toBe(0);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });
});
