import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callerOf } from "../../test/conformance/limiter-model.ts";
import { DistantStorage } from "../../test/harness/distant-storage.ts";
import { failureOf } from "../../test/harness/failure-of.ts";
import { ManualClock } from "../../test/harness/manual-clock.ts";
import { migrations } from "../app/schema.ts";
import { StorageUnavailable } from "../storage/errors.ts";
import { SqliteStorage } from "../storage/sqlite/sqlite-storage.ts";
import { query } from "../storage/statement.ts";
import { all } from "../storage/transaction.ts";
import { WindowLimiter } from "./limiter.ts";
import { LimitStore, windowTable } from "./limits.store.ts";
import { MemoryCounts } from "./memory-counts.ts";

const quota = { perMinute: 100, perDay: 1_000 };
const caller = (account: number) => callerOf(`acc_${account}`, `key_${account}`, quota);

let folder: string;
let clock: ManualClock;
let storage: DistantStorage;
let counts: MemoryCounts;
let limiter: WindowLimiter;

const start = () => {
  counts = new MemoryCounts(clock, new LimitStore(storage));
  limiter = new WindowLimiter(counts);
};
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "petstore-limiter-"));
  clock = new ManualClock();
  storage = new DistantStorage(new SqliteStorage(join(folder, "petstore.db"), migrations));
  start();
});
afterEach(async () => {
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("a shop that is not in memory", () => {
  test("is read once for all requests that wait for it, and each is counted", async () => {
    const before = storage.reads;
    const answers = await Promise.all(Array.from({ length: 150 }, async () => limiter.admit(caller(1))));
    expect(storage.reads).toBe(before + 1);
    expect(answers.filter(({ verdict }) => verdict === "admitted")).toHaveLength(100);
  });

  test("fails the requests that need it while the store is unavailable, and no others", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    await limiter.admit(caller(1));
    storage.readsFail = true;
    const refused = await failureOf(async () => limiter.admit(caller(2)));
    expect(refused).toBeInstanceOf(StorageUnavailable);
    expect(limiter.admit(caller(1))).toMatchObject({ verdict: "admitted", remaining: 98 });
    storage.readsFail = false;
    expect(await limiter.admit(caller(2))).toMatchObject({ verdict: "admitted", remaining: 99 });
    await new Promise(setImmediate);
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });
});

describe("a save that fails", () => {
  test.each([0, 1, 2])("after %p successful ones loses no count of any account", async (good) => {
    const accounts = 2_500; // more than fit into one transaction
    for (let account = 0; account < accounts; account++) await limiter.admit(caller(account));
    storage.writesLeft = good;
    expect(await failureOf(counts.save())).toBeInstanceOf(StorageUnavailable);
    for (let account = 0; account < accounts; account += 2) await limiter.admit(caller(account));
    storage.writesLeft = Number.POSITIVE_INFINITY;
    await counts.save();
    start();
    for (let account = 0; account < accounts; account++) {
      expect((await limiter.admit(caller(account))).remaining).toBe(account % 2 === 0 ? 97 : 98);
    }
  });
});

test("a request that arrives during a save is in the next save", async () => {
  await limiter.admit(caller(1));
  const saved = counts.save();
  await limiter.admit(caller(1));
  await saved;
  await counts.save();
  start();
  expect((await limiter.admit(caller(1))).remaining).toBe(97);
});

describe("memory is bounded:", () => {
  test("it forgets the addresses and shops that were used least recently", async () => {
    const addresses = new WindowLimiter(new MemoryCounts(clock));
    for (let address = 0; address < 150_000; address++) {
      await addresses.admitAddress(`address ${address}`);
      if (address % 10_000 === 0) await addresses.admitAddress("192.0.2.1");
    }
    expect((await addresses.admitAddress("192.0.2.1")).remaining).toBe(60 - 16);
    expect((await addresses.admitAddress("address 0")).remaining).toBe(59); // forgotten
  });

  test("reading an address stores nothing", async () => {
    for (let address = 0; address < 200_000; address++) await limiter.peekAddress(`address ${address}`);
    await limiter.admitAddress("192.0.2.1");
    for (let address = 0; address < 200_000; address++) await limiter.peekAddress(`address ${address}`);
    expect((await limiter.admitAddress("192.0.2.1")).remaining).toBe(58);
  });

  test("no shop that is forgotten loses its count", async () => {
    for (let account = 0; account < 100_500; account++) await limiter.admit(caller(account));
    expect((await limiter.admit(caller(0))).remaining).toBe(98); // not saved yet
    await counts.save();
    for (const account of [1, 499, 500, 100_499]) {
      expect((await limiter.admit(caller(account))).remaining).toBe(98);
    }
  });
});

describe("the saved windows of an account", () => {
  const rows = query<[], { account_id: string }>("SELECT account_id FROM limit_windows");

  test("are deleted with it, even during a write, and not written again", async () => {
    for (const who of [caller(1), { ...caller(1), mode: "live" as const }, caller(2)]) await limiter.admit(who);
    const saved = counts.save();
    await limiter.forget("acc_1");
    await storage.write(() => all(windowTable.owned!.deleteSome, "acc_1"));
    await saved;
    await counts.save();
    expect((await storage.read(all(rows))).map(({ account_id }) => account_id)).toEqual(["acc_2"]);
  });
});
