import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeEach, describe, expect, mock, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storageConformance } from "../../../test/conformance/storage.ts";
import { migrations } from "../../app/schema.ts";
import { StorageUnavailable } from "../errors.ts";
import { change, query, type Row } from "../statement.ts";
import { afterCommit, all, first } from "../transaction.ts";
import { raisesVersion } from "../versions.ts";
import { SqliteStorage } from "./sqlite-storage.ts";
import { WalFile } from "./store-files.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let stores = 0;
const newFile = () => join(folder, `${++stores}`, "petstore.db");

storageConformance("SqliteStorage", { newLocation: newFile, open: (file) => new SqliteStorage(file, migrations) });

interface CountRow extends Row {
  figure: bigint;
}

const addPet = change<[name: string]>(
  "INSERT INTO pets (shop, id, name, category_id, added_at) SELECT 1, coalesce(max(id), 0) + 1, $1, 1, 0 FROM pets WHERE shop = 1",
);
const raise = raisesVersion<[shop: number]>("UPDATE shops SET last_at = last_at WHERE shop = $1");
const countPets = query<[], CountRow>("SELECT count(*) AS figure FROM pets");

/** Waits for some turns of the event loop. */
async function turns(number: number): Promise<void> {
  for (let turn = 0; turn < number; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turns(1);
}

/** Stops the clock until the test ends, so that a group of writes takes all that have come: it ends after some time. */
function stopClock(): void {
  spyOn(performance, "now").mockReturnValue(performance.now());
}

describe("SqliteStorage", () => {
  let file: string;
  let storage: SqliteStorage;
  /** The number of transactions in each commit so far. */
  let commits: number[];
  let fatalErrors: Error[];
  let postponed: Error[];
  let causes: string[];

  const open = () => {
    storage = new SqliteStorage(file, migrations, {
      committed: (_, transactions) => commits.push(transactions),
      failed: (cause) => causes.push(cause),
      postponed: (_, error) => postponed.push(error),
      fatal: (error) => fatalErrors.push(error),
    });
  };
  beforeEach(() => {
    file = newFile();
    commits = [];
    causes = [];
    postponed = [];
    fatalErrors = [];
    open();
  });
  afterEach(() => {
    mock.restore();
    return storage.close();
  });

  const add = (name: string) => storage.write(() => all(addPet, name));
  const count = () => Number((storage.read(first(countPets)) as CountRow).figure);
  const pragma = (text: string) => Object.values(storage.read(first(query(`PRAGMA ${text}`))) ?? {})[0];

  /** Another program that holds the write lock. */
  function lockStore(): Database {
    const other = new Database(file);
    other.run("BEGIN IMMEDIATE");
    return other;
  }

  test("keeps a write-ahead log, and enforces foreign keys", () => {
    expect(pragma("journal_mode")).toBe("wal");
    expect(pragma("synchronous")).toBe(1n); // NORMAL: SQLite still makes the syncs that protect the file from damage
    expect(pragma("foreign_keys")).toBe(1n);
  });

  test("hides the values of parameters from the planner, which would plan lists at each execution", () => {
    const prepare = spyOn(Database.prototype, "prepare");
    const list = query<[shop: number, id: number, limit: number]>(
      "SELECT id FROM pets WHERE shop = $1 AND id > $2 ORDER BY id LIMIT $3",
    );
    void storage.read(all(list, 1, 0, 2));
    const prepared = prepare.mock.calls.map(([sql]) => sql).filter((sql) => /^SELECT.*ORDER BY/.test(sql));
    prepare.mockRestore();
    expect(prepared).toEqual(["SELECT id FROM pets WHERE shop = +?1 AND id > +?2 ORDER BY id LIMIT +?3"]);
  });

  test("resolves writes when the log is synced, not before, and reads during the sync", async () => {
    stopClock();
    const syncs: (() => void)[] = [];
    const sync = spyOn(WalFile.prototype, "sync").mockImplementation((done) => void syncs.push(() => done(null)));
    const resolved: string[] = [];
    const writes = ["Rex", "Tom"].map((name) => add(name).then(() => resolved.push(name)));
    await until(() => syncs.length === 1);
    // Two, because one write that comes alone, long after the last read, is synced at once.
    const late = ["Kim", "Ada"].map((name) => add(name).then(() => resolved.push(name)));
    expect(count()).toBe(2); // committed, but not yet acknowledged
    await turns(3);
    expect(resolved).toEqual([]);
    syncs[0]?.();
    await Promise.all(writes);
    await until(() => syncs.length === 2);
    expect(resolved).toEqual(["Rex", "Tom"]);
    sync.mockRestore();
    syncs[1]?.();
    await Promise.all(late);
  });

  test("raises the version of a shop when reads see the commit, and runs afterCommit actions after its sync", async () => {
    stopClock();
    const syncs: (() => void)[] = [];
    const sync = spyOn(WalFile.prototype, "sync").mockImplementation((done) => void syncs.push(() => done(null)));
    let done = 0;
    const note = (name: string) =>
      storage.write(function* () {
        yield* all(addPet, name);
        yield* all(raise, 1);
        yield* afterCommit(() => void done++);
      });
    const before = storage.versionOf(1);
    const writes = [note("Rex"), note("Tom")];
    expect([count(), storage.versionOf(1)]).toEqual([0, before]);
    await until(() => syncs.length === 1);
    expect([count(), done, storage.versionOf(1)]).toEqual([2, 0, Number(before) + 2]);
    sync.mockRestore();
    syncs[0]?.();
    expect([done, storage.versionOf(1)]).toEqual([2, Number(before) + 2]);
    await Promise.all(writes);
  });

  test("reports when everything readable is on disk", async () => {
    stopClock();
    const syncs: (() => void)[] = [];
    const sync = spyOn(WalFile.prototype, "sync").mockImplementation((done) => void syncs.push(() => done(null)));
    let isSettled = false;
    let told = 0;
    storage.onCommit(() => void told++);
    const writes = [add("Rex"), add("Tom")];
    expect(storage.settled()).toBeUndefined(); // reads do not see it yet
    await until(() => syncs.length === 1);
    const settled = Promise.resolve(storage.settled()).then(() => void (isSettled = true));
    await turns(3);
    expect([count(), told, isSettled]).toEqual([2, 0, false]);
    sync.mockRestore();
    syncs[0]?.();
    await settled;
    expect([told, storage.settled()]).toEqual([1, undefined]);
    await Promise.all(writes);
  });

  test("does not report it for a commit whose sync fails", async () => {
    const syncs: (() => void)[] = [];
    const sync = spyOn(WalFile.prototype, "sync").mockImplementation(
      (done) => void syncs.push(() => done(new Error("EIO"))),
    );
    const writes = Promise.allSettled([add("Rex"), add("Tom")]);
    await until(() => syncs.length === 1);
    const settled = Promise.resolve(storage.settled()).then(
      () => "on disk",
      () => "unknown",
    );
    sync.mockRestore();
    syncs[0]?.();
    expect(await settled).toBe("unknown");
    expect(() => storage.settled()).toThrow(StorageUnavailable);
    await writes;
  });

  test("runs no afterCommit action of a commit whose sync fails", async () => {
    const sync = spyOn(WalFile.prototype, "sync").mockImplementation((done) => done(new Error("EIO")));
    let done = 0;
    const write = () =>
      storage.write(function* () {
        yield* all(addPet, "Rex");
        yield* afterCommit(() => void done++);
      });
    const outcomes = await Promise.allSettled([write(), write()]);
    sync.mockRestore();
    expect([outcomes.map(({ status }) => status), done]).toEqual([["rejected", "rejected"], 0]);
  });

  test("refuses a single write whose own sync fails, and reports the failure as fatal", async () => {
    const sync = spyOn(WalFile.prototype, "syncHere").mockImplementation(() => {
      throw new Error("EIO: i/o error, fdatasync");
    });
    const [outcome] = await Promise.allSettled([add("Rex")]);
    sync.mockRestore();
    expect(outcome.status).toBe("rejected");
    expect(fatalErrors).toEqual([expect.any(StorageUnavailable)]);
  });

  test("does not change the schema version when it checks that it can write", async () => {
    const newer = new Database(file);
    newer.run("PRAGMA user_version = 1000"); // the program is replaced, and this process still runs
    await storage.check().catch(() => {});
    expect(newer.query("PRAGMA user_version").get()).toEqual({ user_version: 1000 });
    newer.close();
  });

  test("refuses all writes of a failed sync, and reports the failure as fatal", async () => {
    const broken = new Error("EIO: i/o error, fdatasync");
    const sync = spyOn(WalFile.prototype, "sync").mockImplementation((done) => void setImmediate(done, broken));
    const outcomes = await Promise.allSettled([add("Rex"), add("Tom")]);
    sync.mockRestore();
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(fatalErrors).toEqual([expect.any(StorageUnavailable)]);
  });

  test("has STRICT tables only", () => {
    const listed = query("SELECT name, strict FROM pragma_table_list WHERE name NOT LIKE 'sqlite_%'");
    const tables = storage.read(all(listed)) as Row[];
    expect(tables.map(({ name }) => name)).toContain("pets");
    for (const table of tables) expect(table).toEqual({ name: table["name"] as string, strict: 1n });
  });

  test("lets transactions of one turn share a commit", async () => {
    stopClock();
    await Promise.all(Array.from({ length: 40 }, (_, index) => add(`Pet ${index}`)));
    expect(commits).toEqual([40]);
  });

  test("splits many writes into commits of a bounded size, and loses nothing", async () => {
    await Promise.all(Array.from({ length: 1_200 }, (_, index) => add(`Pet ${index}`)));
    expect(Math.max(...commits)).toBeLessThanOrEqual(512);
    expect(commits.reduce((sum, transactions) => sum + transactions)).toBe(1_200);
    expect(count()).toBe(1_200);
  });

  test("commits changes shop by shop until 5 ms have passed, and then those of other shops first", async () => {
    let now = performance.now();
    const clock = spyOn(performance, "now").mockImplementation(() => now);
    const order: string[] = [];
    const changing = (shop: number) =>
      storage.write(function* () {
        order.push(`${shop} in ${commits.length}`);
        now += 2;
        yield* all(addPet, "Rex");
      }, shop);
    await Promise.all([1, 1, 1, 1, 1, 2].map(changing));
    clock.mockRestore();
    expect(commits).toEqual([3, 3]);
    expect(order).toEqual(["1 in 0", "1 in 0", "1 in 0", "2 in 1", "1 in 1", "1 in 1"]);
  });

  test("scrubs its files while there is always a write that waits", async () => {
    const most = 1_000_000; // then it has waited for an empty queue
    let isScrubbed = false;
    const written: Promise<unknown>[] = [];
    const addInEveryTurn = () => {
      if (isScrubbed || written.length >= most) return;
      written.push(add("Rex"), add("Tom"));
      setImmediate(addInEveryTurn);
    };
    addInEveryTurn();
    await turns(1);
    isScrubbed = await storage.scrub();
    expect([isScrubbed, written.length < most]).toEqual([true, true]);
    await Promise.all(written);
  });

  test("resolves a write only after its commit", async () => {
    const other = new Database(file, { readonly: true });
    for (let expected = 1; expected <= 5; expected++) {
      await add("Rex");
      expect(commits).toHaveLength(expected);
      expect(other.query("SELECT count(*) AS figure FROM pets").get()).toEqual({ figure: expected });
    }
    other.close();
  });

  describe("while another process holds the write lock", () => {
    test("continues reading, and writes when the lock is released", async () => {
      await add("Rex");
      const other = lockStore();
      const written = Promise.all([add("Tom"), add("Kim")]);
      const order: string[] = [];
      void written.then(() => order.push("written"));
      // Each iteration is a read that runs while the writes are retried.
      for (let turn = 0; turn < 50; turn++) {
        expect(count()).toBe(1);
        await new Promise(setImmediate);
      }
      order.push("unlocked");
      other.run("COMMIT");
      other.close();
      await written;
      expect(order).toEqual(["unlocked", "written"]);
      expect(count()).toBe(3);
    });

    test("refuses a write that has waited too long, and no other", async () => {
      const other = lockStore();
      const early = add("Rex").catch((error: unknown) => error);
      await new Promise(setImmediate);
      const now = performance.now();
      const clock = spyOn(performance, "now").mockImplementation(() => now + 5_500);
      const late = add("Tom");
      expect(await early).toBeInstanceOf(StorageUnavailable);
      clock.mockRestore();
      other.run("COMMIT");
      other.close();
      await late;
      expect(count()).toBe(1);
      expect(commits).toEqual([1]);
    });

    test("waits for it when it closes, so that no accepted write is lost", async () => {
      const other = lockStore();
      const written = add("Rex");
      const closed = storage.close();
      await new Promise(setImmediate);
      other.run("COMMIT");
      other.close();
      await written;
      await closed;
      expect(new SqliteStorage(file, migrations).read(first(countPets))).toEqual({ figure: 1n });
    });
  });

  test("refuses writes when the store is full, and continues", async () => {
    pragma(`max_page_count = ${Number(pragma("page_count")) + 2}`);
    const outcomes = await Promise.allSettled([add("small"), add("x".repeat(50_000)), add("small")]);
    const refused = outcomes.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    expect(refused.length).toBeGreaterThanOrEqual(1);
    for (const { reason } of refused) expect(reason).toBeInstanceOf(StorageUnavailable);
    expect(count()).toBe(3 - refused.length);
    pragma("max_page_count = 1000000");
    await add("x".repeat(50_000));
    expect(count()).toBe(4 - refused.length);
    expect(fatalErrors).toEqual([]);
  });

  test("refuses every member of a group whose commit fails because the disk is full, and continues", async () => {
    // A limit on file sizes acts like a full disk: the log cannot grow.
    // The migrations as text: loading the domains from which they follow takes longer than all else.
    const given = { STORE: file, SOURCE: import.meta.dir, MIGRATIONS: JSON.stringify(migrations) };
    const child = Bun.spawn(
      ["sh", "-c", `trap '' XFSZ; ulimit -f 1200; exec "$0" -e "$1"`, process.execPath, fullDiskScript],
      { env: { ...process.env, ...given }, stdout: "pipe", stderr: "inherit" },
    );
    const report = JSON.parse(await new Response(child.stdout).text());
    expect(report.last).toEqual(Array(5).fill("StorageUnavailable"));
    expect(report.found).toBe(report.acknowledged);
    expect(report.foundAfterwards).toBe(report.acknowledged + 1);
    expect(report.fatalErrors).toEqual([]);
  });

  test("reports a damaged file as fatal", async () => {
    await add("Rex");
    await storage.close();
    // Selects the pages of the animals and their index, but not of the schema: without it, the file is not a store.
    const database = new Database(file, { readonly: true });
    const roots = database.query<{ page: number }, []>(
      "SELECT rootpage AS page FROM sqlite_schema WHERE tbl_name = 'pets'",
    );
    const pages = roots
      .all()
      .map(({ page }) => page)
      .filter(Boolean); // triggers have no pages
    database.close();
    const bytes = await Bun.file(file).bytes();
    for (const page of pages) bytes.fill(7, (page - 1) * 4096, page * 4096);
    await Bun.write(file, bytes);
    open();
    expect(count).toThrow(StorageUnavailable);
    expect(fatalErrors).toEqual([expect.any(StorageUnavailable)]);
  });
});

/** Writes groups of five until one fails, then frees space and writes once more. */
const fullDiskScript = `
  const { Database } = await import("bun:sqlite");
  const { SqliteStorage } = await import(process.env.SOURCE + "/sqlite-storage.ts");
  const migrations = JSON.parse(process.env.MIGRATIONS);
  const { all, first } = await import(process.env.SOURCE + "/../transaction.ts");
  const { change, query } = await import(process.env.SOURCE + "/../statement.ts");
  const addPet = change<[name: string]>("INSERT INTO pets (shop, id, name, category_id, added_at) SELECT 1, coalesce(max(id), 0) + 1, $1, 1, 0 FROM pets WHERE shop = 1");
  const countPets = query("SELECT count(*) AS figure FROM pets");
  const fatalErrors = [];
  const ignore = () => {};
  const fatal = (error) => fatalErrors.push(error.message);
  const observer = { committed: ignore, failed: ignore, postponed: ignore, fatal };
  const storage = new SqliteStorage(process.env.STORE, migrations, observer);
  const add = () => storage.write(() => all(addPet, "x".repeat(2000)));
  const count = () => Number(storage.read(first(countPets)).figure);
  const now = performance.now();
  performance.now = () => now; // a group ends after some time
  let acknowledged = 0;
  let last = [];
  while (last.length === 0) {
    const outcomes = await Promise.allSettled([add(), add(), add(), add(), add()]);
    acknowledged += outcomes.filter(({ status }) => status === "fulfilled").length;
    last = outcomes.filter(({ status }) => status === "rejected").map(({ reason }) => reason.name);
  }
  const found = count();
  await new Promise((resolve) => setImmediate(resolve)); // ends the turn and its read transaction
  new Database(process.env.STORE).run("PRAGMA wal_checkpoint(TRUNCATE)"); // frees space in the log
  await add();
  console.log(JSON.stringify({ acknowledged, last, found, foundAfterwards: count(), fatalErrors }));
  await storage.close();
`;
