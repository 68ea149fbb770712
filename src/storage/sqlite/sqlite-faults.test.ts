import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { failureOf } from "../../../test/harness/failure-of.ts";
import { migrations } from "../../app/schema.ts";
import { StorageUnavailable, StorageUnusable } from "../errors.ts";
import { change, query, type Row } from "../statement.ts";
import { all, first } from "../transaction.ts";
import { Connection } from "./connection.ts";
import { SqliteStorage } from "./sqlite-storage.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-sqlite-faults-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let stores = 0;

interface CountRow extends Row {
  figure: bigint;
}

const addPet = change<[name: string]>(
  "INSERT INTO pets (shop, id, name, category_id, added_at) SELECT 1, coalesce(max(id), 0) + 1, $1, 1, 0 FROM pets WHERE shop = 1",
);
const countPets = query<[], CountRow>("SELECT count(*) AS figure FROM pets");

let file: string;
let storage: SqliteStorage;
let causes: string[];
let postponed: Error[];
let fatalErrors: Error[];

const open = (name = file) => {
  storage = new SqliteStorage(name, migrations, {
    committed: () => {},
    failed: (cause) => causes.push(cause),
    postponed: (_, error) => postponed.push(error),
    fatal: (error) => fatalErrors.push(error),
  });
};
beforeEach(() => {
  file = join(folder, `${++stores}`, "petstore.db");
  causes = [];
  postponed = [];
  fatalErrors = [];
  open();
});
afterEach(() => storage.close());

const add = (name: string) => storage.write(() => all(addPet, name));
const count = () => Number((storage.read(first(countPets)) as CountRow).figure);
/** Adds animals whose names fill more than ten pages each. */
const addLong = async (number: number) => {
  for (let added = 0; added < number; added++) await add("x".repeat(45_000));
};
const countIn = (path: string) => {
  const database = new Database(path, { readonly: true });
  const row = database.query<{ figure: number }, []>(countPets.sql).get();
  database.close();
  return row?.figure;
};
/** The number of pages in the log. */
const pages = () => {
  const beside = new Database(file);
  const size = beside.query<{ log: number }, []>("PRAGMA wal_checkpoint(NOOP)").get()?.log;
  beside.close();
  return size ?? 0;
};
/** The new location of the store's folder. */
const away = () => `${dirname(file)}-away`;
/** Makes every checkpoint fail until it is restored, and counts the failures. */
function failingCheckpoints(code: string) {
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its receiver
  const original = Connection.prototype.first;
  const failing = { tried: 0, end: () => spy.mockRestore() };
  const spy = spyOn(Connection.prototype, "first").mockImplementation(function (
    this: Connection,
    statement,
    parameters,
  ) {
    if (!statement.sql.includes("PASSIVE")) return original.call(this, statement, parameters);
    failing.tried++;
    throw Object.assign(new Error("a checkpoint failed"), { name: "SQLiteError", code });
  });
  return failing;
}

describe("files that were moved or deleted", () => {
  const faults: [string, () => void][] = [
    ["were moved with their folder", () => renameSync(dirname(file), away())],
    ["were deleted with their folder", () => rmSync(dirname(file), { recursive: true })],
    ["were deleted: the store's", () => rmSync(file)],
    ["were deleted: its log", () => rmSync(`${file}-wal`)],
    ["were deleted: its log's index", () => rmSync(`${file}-shm`)],
    [
      "were replaced, as by a backup that is restored too early",
      () => {
        copyFileSync(file, `${file}.copy`);
        renameSync(`${file}.copy`, file);
      },
    ],
  ];

  test.each(faults)("because they %s, are read and not written", async (_, happen) => {
    await add("Rex");
    happen();
    expect(await failureOf(add("Tom"))).toBeInstanceOf(StorageUnavailable);
    expect(await failureOf(storage.check())).toBeInstanceOf(StorageUnavailable);
    expect(count()).toBe(1);
    expect(causes).toEqual(["SQLITE_READONLY_DBMOVED", "SQLITE_READONLY_DBMOVED"]);
    expect(fatalErrors).toEqual([]);
  });

  test("are written again as soon as they are back, with only the acknowledged writes", async () => {
    await add("Rex");
    renameSync(dirname(file), away());
    const refused = await Promise.all(["Tom", "Kim"].map((name) => failureOf(add(name))));
    expect(refused).toEqual([expect.any(StorageUnavailable), expect.any(StorageUnavailable)]);
    expect(countIn(join(away(), "petstore.db"))).toBe(1);
    renameSync(away(), dirname(file));
    await add("Ada");
    expect(count()).toBe(2);
  });

  test.each([
    ["is removed", () => {}],
    ["leads to another store", (link: string) => symlinkSync(file, link)],
  ])("by a link that %s, are read and not written", async (_, replace) => {
    await storage.close();
    const linked = join(dirname(file), "linked.db");
    renameSync(file, linked);
    const link = `${file}.link`;
    symlinkSync(linked, link);
    await new SqliteStorage(file, migrations).close();
    open(link);
    await add("Rex");
    rmSync(link);
    replace(link);
    expect(await failureOf(add("Tom"))).toBeInstanceOf(StorageUnavailable);
    expect(count()).toBe(1);
  });

  test("do not affect the store in their place when they are closed", async () => {
    await add("Rex");
    renameSync(dirname(file), away());
    const old = storage;
    open();
    await add("Tom");
    await old.close();
    expect(existsSync(`${file}-wal`)).toBe(true);
    expect([count(), countIn(file), countIn(join(away(), "petstore.db"))]).toEqual([1, 1, 1]);
  });
});

describe("a store that a newer release has migrated while open", () => {
  test.each([
    ["written", () => add("Tom")],
    ["read", async () => count()],
  ])("is not %s any more, and ends the process", async (_, work) => {
    await add("Rex");
    const newer = new Database(file);
    newer.run(`PRAGMA user_version = ${migrations.length + 1}`);
    newer.close();
    expect(await failureOf(work())).toBeInstanceOf(StorageUnavailable);
    expect(await failureOf(work())).toBeInstanceOf(StorageUnavailable);
    expect(fatalErrors).toEqual([expect.any(StorageUnusable)]);
    expect(fatalErrors[0]?.message).toContain("was written by a newer release");
    expect(countIn(file)).toBe(1);
  });
});

describe("the write-ahead log", () => {
  test("is copied into the file regularly, and stays short", async () => {
    const found: number[] = [];
    for (let round = 0; round < 8; round++) {
      await addLong(30);
      found.push(pages());
    }
    expect(Math.max(...found)).toBeLessThan(2_000);
    expect(Bun.file(file).size).toBeGreaterThan(1_000_000);
  });

  test("grows if it cannot be copied because the disk is full, is reported, and is copied later", async () => {
    const failing = failingCheckpoints("SQLITE_FULL");
    const now = performance.now();
    const clock = spyOn(performance, "now").mockReturnValue(now); // a second later it is tried again
    await addLong(110);
    expect([failing.tried, postponed.length, causes]).toEqual([1, 1, ["SQLITE_FULL"]]);
    expect(pages()).toBeGreaterThan(1_000);
    failing.end();
    clock.mockReturnValue(now + 1_001);
    await addLong(1);
    clock.mockRestore();
    await addLong(1);
    expect(pages()).toBeLessThan(100);
    expect([count(), fatalErrors]).toEqual([112, []]);
  });

  test("ends the process, and stays, if the sync of its copy fails", async () => {
    const failing = failingCheckpoints("SQLITE_IOERR_FSYNC");
    await addLong(110).catch(() => {});
    expect(fatalErrors).toHaveLength(1);
    failing.end();
    const acknowledged = countIn(file);
    expect(await failureOf(add("Tom"))).toBeInstanceOf(StorageUnavailable);
    expect(count).toThrow(StorageUnavailable);
    expect(postponed).toEqual([]);
    await storage.close(); // syncs again, which succeeds without the fault
    expect(existsSync(`${file}-wal`)).toBe(true);
    expect(countIn(file)).toBe(acknowledged);
  });
});
