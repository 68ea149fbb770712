// A disk that is full, that may not be written or that fails while the service runs.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { newDataDir, programCommand, serveCommand } from "../harness/program.ts";
import { canInject, canMount, Injection, onSmallDisk } from "./faulty-disk.ts";
import { lastResponses, StoreUnderFault, unavailable } from "./store-under-fault.ts";

/** More than fit into one group commit. */
const MANY = 600;

/**
 * Checks that writes fail for this reason during a fault, that reads do not, and that writes succeed after it. `begin`
 * starts the fault and returns a function that ends it.
 */
async function expectWritesToFailAndComeBack(
  store: StoreUnderFault,
  reason: string,
  begin: () => Promise<() => Promise<void>>,
): Promise<void> {
  const end = await begin();
  expect(new Set(await store.addAll(MANY))).toEqual(new Set([unavailable])); // every member of a group
  expect(await store.read()).toBe(200);
  await store.ready("503 storage unavailable");
  expect(await store.reason()).toBe(reason);
  expect(store.logged().length).toBeLessThan(20); // and not one for each request
  await end();
  await store.ready("200 ready");
  expect(await store.add("after the fault")).toBe(201);
  expect(await store.read()).toBe(200);
  expect(await store.program.end()).toBe(0);
  expect(store.loggedFailures()).toBe(store.failures); // none is hidden
}

describe.skipIf(!canMount)("a full disk", () => {
  test("fails writes and nothing else, until there is space", async () => {
    await using store = await StoreUnderFault.start((dataDir) => onSmallDisk(dataDir, 4 * 1024 * 1024, serveCommand));
    const ballast = `/proc/${store.pid}/root${store.dataDir}/ballast`;
    await expectWritesToFailAndComeBack(store, "database or disk is full", async () => {
      expect(() => writeFileSync(ballast, Buffer.alloc(8 * 1024 * 1024))).toThrow("ENOSPC");
      while (typeof (await store.add("x".repeat(255))) === "number");
      return async () => rmSync(ballast);
    });
  });
});

describe.skipIf(!canMount)("a disk without an inode left", () => {
  test("is named by a backup that needs a folder there", () => {
    const dataDir = newDataDir();
    const useUp = ["sh", "-c", 'while touch "$0/$$-$((i += 1))" 2>/dev/null; do :; done; exec "$@"', dataDir];
    const command = onSmallDisk(dataDir, 4 * 1024 * 1024, [...useUp, ...programCommand, "backups", "take"], 20);
    const { exitCode, stderr } = Bun.spawnSync(command, { env: { ...process.env, PETSTORE_DATA_DIR: dataDir } });
    const reason = `the disk of ${dataDir} has no inode left, which a new file needs`;
    expect([exitCode, `${stderr}`]).toEqual([1, `The folder ${dataDir}/backups cannot hold backups: ${reason}.\n`]);
  });
});

describe.skipIf(!canInject)("a disk on which every write fails", () => {
  test.each([
    ["because it is full", "ENOSPC", "database or disk is full"],
    ["because a quota is used up", "EDQUOT", "the disk quota of this user for FOLDER is used up"],
    ["because it is mounted read-only", "EROFS", "disk I/O error"],
    ["because it is broken", "EIO", "disk I/O error"],
  ])("%s, fails writes and nothing else, until it works again", async (_, error, reason) => {
    await using store = await StoreUnderFault.start();
    await expectWritesToFailAndComeBack(store, reason.replace("FOLDER", store.dataDir), async () => {
      const injection = await Injection.begin(store.pid, "pwrite64", error);
      await store.failsWrites(); // on a busy machine the tracer can say that it attached and still miss a call
      return () => injection[Symbol.asyncDispose]();
    });
    expect([...new Set(store.names())]).toEqual(["before the fault", "after the fault"]);
  });
});

describe.skipIf(!canInject)("while its disk fails, the service", () => {
  test("ends with a line that says why, if it cannot read what it needs", async () => {
    await using store = await StoreUnderFault.start();
    await using _ = await Injection.begin(store.pid, "pread64", "EIO");
    const beside = new Database(store.file);
    beside.run("UPDATE shops SET last_category_id = last_category_id + 1"); // what others write must be read
    beside.close();
    expect(lastResponses).toContain(await store.read());
    expect(await store.lastWords()).toStartWith(`The store at ${store.file} failed: `); // SQLite takes it for damaged
  });

  test("can be stopped gracefully, and has all acknowledged writes when it starts again", async () => {
    await using store = await StoreUnderFault.start();
    await using _ = await Injection.begin(store.pid, "pwrite64", "ENOSPC");
    expect(await store.add("too much")).toBe(unavailable);
    expect(await store.program.end()).toBe(0);
    expect(store.logged()).toContainEqual(expect.objectContaining({ event: "task_failed", task: "save_limits" }));
    await store.serve();
    expect(await store.add("after the fault")).toBe(201);
    expect(store.names()).toEqual(["before the fault", "after the fault"]);
  });
});
