import { Database } from "bun:sqlite";
import { afterAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { migrations } from "../../app/schema.ts";
import { linkTarget } from "../../files/durable-files.ts";
import type { Migration } from "../applied-migrations.ts";
import { StorageUnusable } from "../errors.ts";
import { query } from "../statement.ts";
import { silentObserver } from "../storage.ts";
import { first } from "../transaction.ts";
import { openDatabase } from "./database.ts";
import { markMoved, markOf } from "./moved-mark.ts";
import { openSqlite } from "./opening.ts";
import { SqliteSource } from "./sqlite-source.ts";
import { SqliteStorage } from "./sqlite-storage.ts";
import { createStore } from "./store-files.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-opening-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let stores = 0;
let file: string;
beforeEach(() => {
  file = join(folder, `${++stores}`, "petstore.db");
});

/** Opens the store with the given migrations and closes it. */
function openOnce(known: readonly Migration[] = migrations, mayMigrate = true): void {
  openDatabase(file, 1, known, mayMigrate).close();
}

/** The error message for the operator. */
function refusal(): string {
  try {
    openOnce();
  } catch (error) {
    expect(error).toBeInstanceOf(StorageUnusable);
    return (error as Error).message;
  }
  throw new Error("The store was opened.");
}

/** Runs as an unprivileged user, because root ignores file permissions. */
function withoutPrivileges<T>(work: () => T): T {
  if (process.geteuid?.() !== 0) return work();
  chmodSync(folder, 0o777);
  process.seteuid?.(65_534);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}

const newMigration = (name: string, sqlite: string): Migration => ({ name, sqlite, postgres: "" });
const make = newMigration("make", "CREATE TABLE log (entry TEXT NOT NULL) STRICT; INSERT INTO log VALUES ('make');");
const note = (name: string) => newMigration(name, `INSERT INTO log VALUES ('${name}');`);
/** The notes that the migrations wrote into the store, in order. */
const log = () => {
  const database = new Database(file);
  const entries = database.query<{ entry: string }, []>("SELECT entry FROM log ORDER BY rowid").all();
  database.close();
  return entries.map(({ entry }) => entry);
};

/** Another program that has opened the store exclusively. */
const lockStore = () => {
  openOnce();
  const other = new Database(file);
  other.run("PRAGMA locking_mode = EXCLUSIVE");
  other.run("BEGIN EXCLUSIVE");
  return other;
};

describe("migrations", () => {
  test("run in order, each once", () => {
    openOnce([make, note("second")]);
    openOnce([make, note("second")]);
    expect(log()).toEqual(["make", "second"]);
    openOnce([make, note("second"), note("third"), note("fourth")]);
    openOnce([make, note("second"), note("third"), note("fourth")]);
    expect(log()).toEqual(["make", "second", "third", "fourth"]);
  });

  test("run all or none: one that fails leaves the schema as it was", () => {
    openOnce([make]);
    const broken = [make, note("second"), newMigration("broken", "INSERT INTO nowhere VALUES (1);")];
    expect(() => openOnce(broken)).toThrow("no such table: nowhere");
    expect(log()).toEqual(["make"]);
    openOnce([make, note("second")]);
    expect(log()).toEqual(["make", "second"]);
  });

  test("do not run if the store may not be migrated: it is refused and stays as it is, also if it is moved", () => {
    openOnce([make], false); // a new store
    const reason = /has schema 1; this release uses 2\. .*start the service/;
    expect(() => openOnce([make, note("second")], false)).toThrow(reason);
    expect(() => SqliteSource.open(file, [make, note("second")])).toThrow(reason);
    openOnce([make], false);
    expect(log()).toEqual(["make"]);
  });
});

test.each([
  ["before there were digests of migrations", "DROP TABLE petstore_steps"],
  ["with another first migration", "UPDATE petstore_steps SET digest = 'of another migration'"],
  ["with more migrations than this release has", "DROP TABLE petstore_steps; PRAGMA user_version = 14"],
])("a store of an unreleased schema, %s, is refused with instructions", (_, change) => {
  openOnce();
  const database = new Database(file);
  database.run(change);
  database.close();
  expect(refusal()).toMatch(/never released.*`petstore export`.*`petstore import`/);
});

test("a store whose schema is newer by `user_version` alone is refused, as it ends a running service", () => {
  openOnce();
  const database = new Database(file);
  database.run(`PRAGMA user_version = ${migrations.length + 1}`);
  database.close();
  expect(refusal()).toMatch(/newer release: its schema is 2, this release knows 1/);
});

describe("concurrent opening", () => {
  const script = `
    const { openSqlite } = await import(process.env.SOURCE + "/opening.ts");
    const { all } = await import(process.env.SOURCE + "/../transaction.ts");
    const { change } = await import(process.env.SOURCE + "/../statement.ts");
    const migrations = JSON.parse(process.env.MIGRATIONS);
    console.log("ready");
    for await (const line of console) break;
    const storage = await openSqlite(process.env.STORE, { migrations });
    await storage.write(() => all(change<[name: string]>("INSERT INTO pets (shop, id, name, category_id, added_at) SELECT 1, coalesce(max(id), 0) + 1, $1, 1, 0 FROM pets WHERE shop = 1"), "Rex"));
    await storage.close();
  `;

  test("of a new store by several processes succeeds", async () => {
    const processes = Array.from({ length: 6 }, () =>
      Bun.spawn([process.execPath, "-e", script], {
        // The migrations as text: loading the domains from which they follow takes longer than all else.
        env: { ...process.env, STORE: file, SOURCE: import.meta.dir, MIGRATIONS: JSON.stringify(migrations) },
        stdin: "pipe",
        stdout: "pipe",
        stderr: "pipe",
      }),
    );
    await Promise.all(processes.map(({ stdout }) => stdout.getReader().read()));
    for (const { stdin } of processes) {
      await stdin.write("go\n");
      await stdin.end();
    }
    const complaints = await Promise.all(processes.map(({ stderr }) => new Response(stderr).text()));
    expect(complaints).toEqual(Array(6).fill(""));
    const storage = new SqliteStorage(file, migrations);
    expect(storage.read(first(query("SELECT count(*) AS figure FROM pets")))).toEqual({ figure: 6n });
    await storage.close();
  });
});

describe("opening a store that another process has locked", () => {
  test("waits for the lock, does other work during the wait, and reports once that it waits", async () => {
    const other = lockStore();
    const postponed: string[] = [];
    const opening = openSqlite(file, {
      migrations,
      observer: { ...silentObserver, postponed: (work) => postponed.push(work) },
    });
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    other.close();
    await (await opening).close();
    expect(postponed).toEqual(["open_store"]);
  });

  test("ends the wait when it is stopped", async () => {
    const other = lockStore();
    const stop = new AbortController();
    const opening = openSqlite(file, { migrations, stop: stop.signal }).catch(
      (error: StorageUnusable) => error.message,
    );
    stop.abort();
    expect(await opening).toBe(`The store at ${file} cannot be opened: database is locked.`);
    other.close();
  });

  test("fails in the end", async () => {
    const other = lockStore();
    const now = performance.now();
    const clock = spyOn(performance, "now").mockImplementation(() => now);
    const opening = openSqlite(file, { migrations }).catch((error: unknown) => error);
    clock.mockImplementation(() => now + 10_001);
    expect(await opening).toBeInstanceOf(StorageUnusable);
    clock.mockRestore();
    other.close();
  });
});

describe("a store is refused with a reason", () => {
  test("that a newer release wrote", () => {
    openOnce([
      ...migrations,
      { name: "of tomorrow", sqlite: "CREATE TABLE tomorrow (id INTEGER) STRICT;", postgres: "" },
    ]);
    expect(refusal()).toBe(
      `The store at ${file} was written by a newer release: ` +
        `its schema is ${migrations.length + 1}, this release knows ${migrations.length}.`,
    );
  });

  test("that belongs to another program, which is not changed", () => {
    mkdirSync(join(file, ".."));
    const other = new Database(file);
    other.run("CREATE TABLE bookmarks (address TEXT)");
    other.close();
    const before = readFileSync(file);
    expect(refusal()).toBe(`${file} is a database of another program.`);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test("that is not a database, which is not changed", () => {
    mkdirSync(join(file, ".."));
    writeFileSync(file, "Dear diary, today I bought a dog.\n".repeat(100));
    const before = readFileSync(file);
    expect(refusal()).toBe(`The store at ${file} cannot be opened: file is not a database.`);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test.each([
    ["that is empty", ""],
    ["that is a database without tables", new Database(":memory:").serialize()],
  ])("%s, which is not changed", (_, contents) => {
    mkdirSync(join(file, ".."));
    writeFileSync(file, contents);
    expect(refusal()).toStartWith(`${file} is empty. No release leaves an empty store`);
    expect(readFileSync(file).length).toBe(contents.length);
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  test("that is missing although its log exists, which is not changed", () => {
    mkdirSync(join(file, ".."));
    writeFileSync(`${file}-wal`, "acknowledged");
    expect(refusal()).toStartWith(`${file} is missing, but its log ${file}-wal exists`);
    expect(readFileSync(`${file}-wal`, "utf8")).toBe("acknowledged");
  });

  test("that was moved away, even if it was deleted since", () => {
    openOnce();
    markMoved(file, "postgres://petstore@db.test:5432/petstore");
    const reason = `The store at ${file} was moved to postgres://petstore@db.test:5432/petstore on 20`;
    expect(refusal()).toStartWith(reason);
    rmSync(file);
    expect(refusal()).toStartWith(reason);
    rmSync(markOf(file));
    openOnce();
  });

  test("whose path is a folder", () => {
    mkdirSync(file, { recursive: true });
    expect(refusal()).toBe(`The store at ${file} cannot be opened: ${file} is a folder. Use another data folder.`);
  });

  test("whose folder is inside a file", () => {
    const parent = join(file, "..");
    writeFileSync(parent, "not a folder");
    const reason = `The store at ${file} cannot be opened: ${parent} is not a folder. Use another data folder.`;
    expect(refusal()).toBe(reason);
  });

  test("whose folder is read-only", () => {
    mkdirSync(join(file, ".."), { mode: 0o555 });
    expect(withoutPrivileges(refusal)).toStartWith(`The store at ${file} cannot be opened: `);
  });

  test("whose file is read-only in a writable folder", () => {
    openOnce();
    chmodSync(join(file, ".."), 0o777);
    chmodSync(file, 0o444);
    expect(withoutPrivileges(refusal)).toBe(
      `The store at ${file} cannot be opened: attempt to write a readonly database.`,
    );
  });
});

test("a folder that is created for the store is readable by its owner only", async () => {
  const storage = new SqliteStorage(file, migrations);
  await storage.close();
  expect((await Bun.file(join(file, "..")).stat()).mode & 0o777).toBe(0o700);
});

test.skipIf(!existsSync("/proc/self/fd"))("temporary files lie beside the store, whose disk has room for them", () => {
  const database = openDatabase(file, 1, migrations);
  const sorted = database.query(`
    WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 100000)
    SELECT printf('%0200d', n) AS text FROM many ORDER BY text DESC`);
  const rows = sorted.iterate();
  rows.next(); // the sort, which is larger than the cache, now has a file without a name
  const open = readdirSync("/proc/self/fd").flatMap((descriptor) => linkTarget(`/proc/self/fd/${descriptor}`) ?? []);
  const temporary = open.filter((path) => path.endsWith(" (deleted)"));
  rows.return?.();
  database.close();
  expect(temporary.map(dirname)).toContain(dirname(file));
});

describe("a new store", () => {
  test("is created completely or not at all, whatever interrupts it", () => {
    const failing = () => {
      expect(existsSync(file)).toBe(false);
      throw new Error("the end");
    };
    expect(() => createStore(file, failing)).toThrow("the end");
    expect(readdirSync(join(file, ".."))).toEqual([]);
    openOnce([make]);
    expect(log()).toEqual(["make"]);
  });

  test("leaves the unfinished file of a process in another container, which can have the same id", () => {
    openOnce([make]);
    rmSync(file);
    const unfinished = `${file}.unfinished-${process.pid}`;
    writeFileSync(unfinished, "of another container");
    createStore(file, () => new Uint8Array(10));
    expect(readFileSync(unfinished, "utf8")).toBe("of another container");
  });

  test("does not replace one that another process created first", () => {
    createStore(file, () => {
      openOnce([make, note("quicker")]);
      return new Uint8Array(10);
    });
    expect(log()).toEqual(["make", "quicker"]);
    expect(readdirSync(join(file, ".."))).toEqual(["petstore.db"]);
  });
});
