import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callerOf } from "../../test/conformance/limiter-model.ts";
import { DistantStorage } from "../../test/harness/distant-storage.ts";
import { failureOf } from "../../test/harness/failure-of.ts";
import { ManualClock } from "../../test/harness/manual-clock.ts";
import { StorageUnavailable } from "../storage/errors.ts";
import { SqliteStorage } from "../storage/sqlite/sqlite-storage.ts";
import { LimitStore } from "./limits.store.ts";
import { MemoryLimiter } from "./memory-limiter.ts";

const quota = { perMinute: 100, perDay: 1_000 };
const caller = (account: number) => callerOf(`acc_${account}`, `key_${account}`, quota);

let folder: string;
let clock: ManualClock;
let storage: DistantStorage;
let limiter: MemoryLimiter;

const start = () => new MemoryLimiter(new LimitStore(storage), clock, { perMinute: 60, perDay: 1_000 });
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "petstore-limiter-"));
  clock = new ManualClock();
  storage = new DistantStorage(new SqliteStorage(join(folder, "petstore.db")));
  limiter = start();
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
    expect(await failureOf(limiter.save())).toBeInstanceOf(StorageUnavailable);
    for (let account = 0; account < accounts; account += 2) await limiter.admit(caller(account));
    storage.writesLeft = Number.POSITIVE_INFINITY;
    await limiter.save();
    limiter = start();
    for (let account = 0; account < accounts; account++) {
      expect((await limiter.admit(caller(account))).remaining).toBe(account % 2 === 0 ? 97 : 98);
    }
  });
});

test("a request that arrives during a save is in the next save", async () => {
  await limiter.admit(caller(1));
  const saved = limiter.save();
  await limiter.admit(caller(1));
  await saved;
  await limiter.save();
  limiter = start();
  expect((await limiter.admit(caller(1))).remaining).toBe(97);
});

describe("memory is bounded:", () => {
  test("it has at most 100,000 addresses, and keeps one that continues sending", () => {
    for (let address = 0; address < 300_000; address++) {
      limiter.admitAddress(`address ${address}`);
      if (address % 10_000 === 0) limiter.admitAddress("192.0.2.1");
      expect(limiter.size.addresses).toBeLessThanOrEqual(100_000);
    }
    expect(limiter.admitAddress("192.0.2.1").remaining).toBe(60 - 31);
  });

  test("reading an address stores nothing", () => {
    limiter.peekAddress("192.0.2.1");
    expect(limiter.size.addresses).toBe(0);
  });

  test("it has at most 100,000 shops after a save, and none loses its count", async () => {
    for (let account = 0; account < 100_500; account++) await limiter.admit(caller(account));
    await limiter.save();
    expect(limiter.size.shops).toBe(100_000);
    for (const account of [0, 1, 499, 500, 100_499]) {
      expect((await limiter.admit(caller(account))).remaining).toBe(98);
    }
  });

  test("a limited key is removed when it may send again", async () => {
    for (let request = 0; request <= 100; request++) await limiter.admit(caller(1));
    expect(limiter.size.keys).toBe(1);
    clock.advance(60_000);
    await limiter.save();
    expect(limiter.size.keys).toBe(0);
  });
});
