// Several processes without a shared limiter save their counts in one store.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { callerOf } from "../../test/conformance/limiter-model.ts";
import { ManualClock, NOON } from "../../test/harness/manual-clock.ts";
import { eventually } from "../../test/harness/program.ts";
import { newTestStore, onPostgres, type TestStore } from "../../test/harness/test-store.ts";
import { statement } from "../storage/statement.ts";
import type { Storage } from "../storage/storage.ts";
import { all } from "../storage/transaction.ts";
import { LimitStore } from "./limits.store.ts";
import { MemoryLimiter } from "./memory-limiter.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const quota = { perMinute: 100, perDay: 1_000 };
const caller = callerOf("acc_1", "key_1", quota);

let store: TestStore;
let storage: Storage;
let clock: ManualClock;
beforeEach(async () => {
  store = await newTestStore();
  storage = await store.open();
  clock = new ManualClock();
});
afterEach(async () => {
  await storage.close();
  await store.remove();
});

/** A process that has loaded the saved limits, on this machine or on one with a different clock. */
async function start(its = clock): Promise<MemoryLimiter> {
  const limiter = new MemoryLimiter(new LimitStore(storage), its, { perMinute: 60, perDay: 1_000 });
  await limiter.limitStatus(caller);
  return limiter;
}

/** Sends this many requests, then saves the counts of the process. */
async function send(limiter: MemoryLimiter, requests: number): Promise<void> {
  for (let request = 0; request < requests; request++) await limiter.admit(caller);
  await limiter.save();
}
/** The limits of the account in a process that starts now. */
async function used(its = clock) {
  const { minute, day } = await (await start(its)).limitStatus(caller);
  return { minute: minute.used, day: day.used };
}
describe("counts", () => {
  test("of the process that counted more are kept, whichever process writes last", async () => {
    const [one, other] = [await start(), await start()];
    await send(one, 40);
    await send(other, 5);
    expect(await used()).toEqual({ minute: 40, day: 40 });
    await send(other, 50);
    expect(await used()).toEqual({ minute: 55, day: 55 });
    await send(one, 1);
    expect(await used()).toEqual({ minute: 55, day: 55 });
  });

  test("of a minute are kept until it has ended, with its own end", async () => {
    const [one, other] = [await start(), await start()];
    await send(one, 40);
    clock.advance(MINUTE / 2);
    await send(other, 5);
    const { minute } = await (await start()).limitStatus(caller);
    expect(minute).toMatchObject({ used: 40, reset: (NOON + MINUTE) / 1000 });
    clock.advance(MINUTE / 2);
    await send(one, 3);
    expect(await used()).toEqual({ minute: 3, day: 43 });
    clock.advance(MINUTE);
    await send(one, 1);
    expect(await used()).toEqual({ minute: 1, day: 44 });
  });

  test("of a minute are not replaced by those of an ended minute, even if those are larger and written last", async () => {
    const [one, other] = [await start(), await start()];
    for (let request = 0; request < 40; request++) await one.admit(caller);
    clock.advance(MINUTE + 100);
    await send(other, 5);
    clock.advance(300);
    await one.save();
    expect(await used()).toEqual({ minute: 5, day: 40 });
    await send(other, 34);
    expect(await used()).toEqual({ minute: 39, day: 40 });
  });

  describe("of a minute of another machine, with another uptime,", () => {
    let theirs: ManualClock;
    beforeEach(() => {
      theirs = new ManualClock();
      theirs.reboot();
    });

    test("are kept if they are larger", async () => {
      const [one, far] = [await start(), await start(theirs)];
      await send(one, 40);
      await send(far, 1);
      expect(await used()).toEqual({ minute: 40, day: 40 });
      await send(far, 40);
      expect(await used()).toEqual({ minute: 41, day: 41 });
    });

    test("are not replaced by those of an ended minute, even if those are larger and written last", async () => {
      const [one, far] = [await start(), await start(theirs)];
      for (let request = 0; request < 40; request++) await far.admit(caller);
      for (const its of [clock, theirs]) its.advance(MINUTE);
      await send(one, 5);
      await far.save();
      expect((await used()).minute).toBe(5);
    });

    test("are replaced within two minutes if the clock of that machine is ahead", async () => {
      const one = await start();
      for (const ahead of [MINUTE, 2 * MINUTE, HOUR, DAY]) {
        theirs.setWall(clock.now() + ahead);
        await send(await start(theirs), 40);
        for (let minute = 0; minute < 2; minute++) {
          await send(one, 5);
          for (const its of [clock, theirs]) its.advance(MINUTE);
        }
        await send(one, 6);
        expect((await used()).minute).toBe(6);
      }
    });
  });

  test("of a new day are not overwritten by a process whose clock has not reached it, nor vice versa", async () => {
    clock.advance(DAY / 2 - 1);
    const slow = new ManualClock(clock.now() - 10);
    const [ahead, behind] = [await start(), await start(slow)];
    await send(behind, 7);
    clock.advance(1);
    await send(ahead, 30);
    await send(behind, 1);
    expect((await used()).day).toBe(30);
    expect((await used(slow)).day).toBe(8);
  });

  test("of a day start again on the next day", async () => {
    const one = await start();
    await send(one, 40);
    clock.advance(DAY);
    await send(one, 2);
    expect(await used()).toEqual({ minute: 2, day: 2 });
    clock.setWall(NOON);
    expect((await used()).day).toBe(40);
  });
});

describe("the data of an account", () => {
  const rows = statement<[], { account_id: string }>("SELECT account_id FROM limit_windows");
  const accounts = async () => (await storage.read(all(rows))).map(({ account_id }) => account_id);

  test("is deleted with it, even during a write, and not written again", async () => {
    const limiter = await start();
    const other = { ...caller, accountId: "acc_2", keyId: "key_2" };
    await limiter.admit(caller);
    await limiter.admit({ ...caller, keyId: "key_3", mode: "live" });
    await limiter.admit(other);
    const saved = limiter.save();
    await limiter.forget("acc_1");
    await saved;
    await limiter.save();
    expect(await accounts()).toEqual(["acc_2"]);
  });
});

test("a minute of Valkey is replaced if its clock was a year ahead", async () => {
  const limits = new LimitStore(storage);
  const save = async (wall: number, minuteUsed: number) => {
    const minuteEnd = { wall, monotonic: wall, boot: 0 };
    await limits.saveWindows([[caller, { minuteEnd, minuteUsed, day: 0, dayUsed: 1, earlierDays: [] }]]);
  };
  await save(NOON + 365 * DAY, 2);
  await save(NOON + MINUTE, 1);
  const stored = (await limits.storedLimits([caller.accountId])).get(caller);
  expect(stored).toMatchObject({ minuteEnds: NOON + MINUTE, minuteUsed: 1 });
});

test.skipIf(!onPostgres)("two processes save the same limits at once without a deadlock", async () => {
  const other = await store.open();
  const shops = Array.from({ length: 100 }, (_, index) => ({ accountId: `acc_${index}`, mode: "test" as const }));
  const end = { wall: NOON, monotonic: NOON, boot: 0 };
  for (let round = 1; round <= 5; round++) {
    const saved = [storage, other].map(async (one, index) => {
      const inTurn = index === 0 ? shops : shops.toReversed();
      const limits = new LimitStore(one);
      const windows = { minuteEnd: end, minuteUsed: round, day: 0, dayUsed: round, earlierDays: [] };
      await limits.saveWindows(inTurn.map((shop) => [shop, windows]));
    });
    await Promise.all(saved);
  }
  await Promise.all([storage.close(), other.close()]);
  // A connection reports its statistics when it ends, which can be after `close`.
  const open = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
  await eventually(async () => (await store.rows(open)).length === 0);
  storage = await store.open();
  const deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
  expect(await store.rows(deadlocks)).toEqual([{ deadlocks: 0n }]);
});
