import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { migrations } from "../../app/schema.ts";
import { StorageUnusable } from "../errors.ts";
import { change, query, type Row } from "../statement.ts";
import { all, first } from "../transaction.ts";
import { backupSqlite } from "./backup.ts";
import { restoreSqlite } from "./restore.ts";
import { SqliteStorage } from "./sqlite-storage.ts";
import { verifyBackup } from "./verify.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-backup-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface CountRow extends Row {
  figure: bigint;
}

const addPet = change<[name: string]>(
  "INSERT INTO pets (shop, id, name, category_id, added_at) SELECT 1, coalesce(max(id), 0) + 1, $1, 1, 0 FROM pets WHERE shop = 1",
);
const countPets = query<[name: string], CountRow>("SELECT count(*) AS figure FROM pets WHERE name = $1");

/** The numbers of lefts and rights in a copy, which must be a usable store. */
async function pairsIn(copy: string): Promise<[number, number]> {
  const opened = new SqliteStorage(copy, migrations);
  const count = (name: string) => Number((opened.read(first(countPets, name)) as CountRow).figure);
  const pairs: [number, number] = [count("left"), count("right")];
  await opened.close();
  return pairs;
}

describe("a backup", () => {
  let place: string;
  let file: string;
  let target: string;
  let storage: SqliteStorage;

  beforeEach(() => {
    place = mkdtempSync(join(folder, "case-"));
    file = join(place, "data", "petstore.db");
    target = join(place, "copies", "backup.db");
    mkdirSync(join(place, "copies"));
    storage = new SqliteStorage(file, migrations);
  });
  afterEach(() => storage.close());

  const addPair = () =>
    storage.write(function* () {
      yield* all(addPet, "left");
      yield* all(addPet, "right");
    });

  const backupInProcess = (copy: string) =>
    Bun.spawn(
      [
        process.execPath,
        "-e",
        `const { backupSqlite } = await import(process.env.SOURCE + "/backup.ts");
        backupSqlite(process.env.STORE, process.env.TARGET, JSON.parse(process.env.MIGRATIONS))`,
      ],
      {
        // The migrations as text: loading the domains from which they follow takes longer than all else.
        env: {
          ...process.env,
          SOURCE: import.meta.dir,
          STORE: file,
          TARGET: copy,
          MIGRATIONS: JSON.stringify(migrations),
        },
        stderr: "ignore",
      },
    );

  test("contains everything, and can be used as a store", async () => {
    await addPair();
    backupSqlite(file, target, migrations);
    expect(readdirSync(join(place, "copies")).toSorted()).toEqual(["backup.db", "backup.db.sha256"]);
    expect(await pairsIn(target)).toEqual([1, 1]);
  });

  test("is consistent, even while a service writes", async () => {
    await addPair();
    for (let round = 0; round < 3; round++) {
      const copy = `${target}.${round}`;
      let acknowledged = (await pairsIn(file))[0];
      const atLeast = acknowledged;
      const backup = backupInProcess(copy);
      while (backup.exitCode === null) {
        await Promise.all(Array.from({ length: 20 }, addPair));
        acknowledged += 20;
      }
      expect(await backup.exited).toBe(0);
      const [left, right] = await pairsIn(copy);
      expect(left).toBe(right);
      expect(left).toBeGreaterThanOrEqual(atLeast);
      expect(left).toBeLessThanOrEqual(acknowledged);
      expect(await pairsIn(file)).toEqual([acknowledged, acknowledged]);
    }
  });

  test("overwrites no file", async () => {
    await addPair();
    writeFileSync(target, "the only photograph of my dog");
    expect(() => backupSqlite(file, target, migrations)).toThrow(
      new StorageUnusable(`${target} exists already; a backup overwrites nothing.`),
    );
    expect(readFileSync(target, "utf8")).toBe("the only photograph of my dog");
  });

  test("is not written through a link whose target is missing", () => {
    symlinkSync("elsewhere.db", target);
    expect(() => backupSqlite(file, target, migrations)).toThrow(`${target} exists already`);
    expect(readdirSync(join(place, "copies"))).toEqual(["backup.db"]);
  });

  test("overwrites no other backup that was taken at the same time", async () => {
    // So large that all four have begun before the first one ends.
    for (let round = 0; round < 20; round++) await storage.write(() => all(addPet, "x".repeat(1_000_000)));
    const backups = Array.from({ length: 4 }, () => backupInProcess(target));
    const statuses = await Promise.all(backups.map(({ exited }) => exited));
    expect(statuses.filter((status) => status === 0)).toHaveLength(1);
    expect(readdirSync(join(place, "copies")).toSorted()).toEqual(["backup.db", "backup.db.sha256"]);
    expect(() => verifyBackup(target, migrations)).not.toThrow(); // the checksum is that of the one that got the name
  });

  test("succeeds beside the unfinished file of a killed process with the same id", async () => {
    await addPair();
    writeFileSync(`${target}.unfinished-${process.pid}`, "half of a backup");
    backupSqlite(file, target, migrations);
    expect(await pairsIn(target)).toEqual([1, 1]);
  });

  test("leaves no unfinished file if it fails", async () => {
    // Large enough that part of the copy is written before SQLite finds the damaged end.
    for (let round = 0; round < 50; round++) await storage.write(() => all(addPet, "x".repeat(10_000)));
    await storage.close();
    const bytes = readFileSync(file);
    writeFileSync(file, Buffer.concat([bytes.subarray(0, bytes.length / 2), Buffer.alloc(bytes.length / 2, 7)]));
    expect(() => backupSqlite(file, target, migrations)).toThrow(StorageUnusable);
    expect(() => backupSqlite(file, target, migrations)).toThrow(`The backup to ${target} failed: `);
    expect(readdirSync(join(place, "copies"))).toEqual([]);
  });

  test("is restored without the copies of restores that were killed", async () => {
    await addPair();
    backupSqlite(file, target, migrations);
    await storage.close();
    writeFileSync(`${file}.unfinished-7`, "half of a copy");
    const { replaced = "" } = restoreSqlite(target, file, { migrations, now: new Date(), accept: () => {} });
    const stores = readdirSync(join(place, "data")).filter((name) => !/-(wal|shm)$/.test(name));
    expect(stores.toSorted()).toEqual(["petstore.db", basename(replaced)]);
    expect(await pairsIn(file)).toEqual([1, 1]);
  });

  test("is restored from the complete copy of a restore that was killed", async () => {
    await addPair();
    await storage.close();
    const copy = `${file}.unfinished-7`;
    backupSqlite(file, copy, migrations);
    rmSync(file);
    restoreSqlite(copy, file, { migrations, now: new Date(), accept: () => {} });
    expect(await pairsIn(file)).toEqual([1, 1]);
  });

  test("says that its file cannot be created", () => {
    const long = join(place, "copies", "x".repeat(250)); // the unfinished file has a longer name
    expect(() => backupSqlite(file, long, migrations)).toThrow(StorageUnusable);
    expect(() => backupSqlite(file, long, migrations)).toThrow(`The backup to ${long} failed: `);
  });

  test("is refused for a folder that does not exist", () => {
    const nowhere = join(place, "nowhere", "backup.db");
    expect(() => backupSqlite(file, nowhere, migrations)).toThrow(
      new StorageUnusable(`The folder ${join(place, "nowhere")} does not exist.`),
    );
  });

  test("is refused for a store that does not exist, and creates none", () => {
    const missing = join(place, "missing.db");
    expect(() => backupSqlite(missing, target, migrations)).toThrow(
      new StorageUnusable(`There is no store at ${missing}.`),
    );
    expect(readdirSync(place).toSorted()).toEqual(["copies", "data"]);
  });

  test("is refused for another program's database", () => {
    const foreign = join(place, "foreign.db");
    const other = new Database(foreign);
    other.run("CREATE TABLE bookmarks (address TEXT)");
    other.close();
    expect(() => backupSqlite(foreign, target, migrations)).toThrow(`${foreign} is a database of another program.`);
  });
});
