// Several processes without a shared limiter save their counts in one store.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { callerOf } from "../../test/conformance/limiter-model.ts";
import { ManualClock, NOON } from "../../test/harness/manual-clock.ts";
import { eventually } from "../../test/harness/program.ts";
import { newTestStore, onPostgres, type TestStore } from "../../test/harness/test-store.ts";
import { openStorage } from "../app/store/engines.ts";
import { readConfig } from "../config.ts";
import { statement } from "../storage/statement.ts";
import { type Storage, silentObserver } from "../storage/storage.ts";
import { all } from "../storage/transaction.ts";
import { ClockReader } from "./clock-reading.ts";
import { LiftedBans, liftBan } from "./lifted-bans.store.ts";
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
  const limiter = await MemoryLimiter.open(new LimitStore(storage), its, { perMinute: 60, perDay: 1_000 });
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
/** Sends requests until the key is banned. Every limited request except the first is a strike. */
async function untilBanned(limiter: MemoryLimiter, its = clock): Promise<void> {
  await send(limiter, quota.perMinute + 1);
  its.advance(1_000);
  for (let verdict = ""; verdict !== "banned"; ) ({ verdict } = await limiter.admit(caller));
}

const limitStatus = async () => (await start()).limitStatus(caller);

/** Two processes. The first has banned the key this many times, the last time for longer than a minute. */
async function afterBans(count: number) {
  const [one, other] = [await start(), await start()];
  for (let ban = 1; ban <= count; ban++) {
    await untilBanned(one);
    if (ban < count) clock.advance(HOUR);
  }
  return { one, other };
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
  const rows = statement<[], { account_id: string }>(
    "SELECT account_id FROM limit_windows UNION ALL SELECT account_id FROM key_bans",
  );
  const accounts = async () => (await storage.read(all(rows))).map(({ account_id }) => account_id);

  test("is deleted with it, even during a write, and not written again", async () => {
    const limiter = await start();
    const other = { ...caller, accountId: "acc_2", keyId: "key_2" };
    await untilBanned(limiter);
    await limiter.admit({ ...caller, keyId: "key_3", mode: "live" });
    await limiter.admit(other);
    const saved = limiter.save();
    await limiter.forget("acc_1");
    await saved;
    await limiter.save();
    expect(await accounts()).toEqual(["acc_2"]);
  });

  test("is deleted even if there are more bans than one transaction deletes", async () => {
    const end = { wall: NOON + MINUTE, monotonic: MINUTE, boot: clock.boot.id };
    const bans = Array.from({ length: 1_001 }, (_, index) => ({
      keyId: `key_${index}`,
      shop: caller,
      ban: { end, level: 1 },
    }));
    const limits = new LimitStore(storage);
    await limits.saveBans(bans);
    await limits.saveBans([{ keyId: "key_2", shop: { accountId: "acc_2", mode: "live" }, ban: { end, level: 1 } }]);
    await limits.forget("acc_1");
    expect(await accounts()).toEqual(["acc_2"]);
  });
});

describe("bans", () => {
  test("that last longer are not shortened by those of another process", async () => {
    const { other } = await afterBans(3);
    const { banEnds, nextBan } = await limitStatus();
    await untilBanned(other);
    expect(await limitStatus()).toMatchObject({ banEnds, nextBan });
    expect(nextBan).toBe(8 * 60);
  });

  test("that last longer are not shortened by those of another machine with another uptime", async () => {
    const theirs = new ManualClock();
    theirs.reboot();
    const far = await start(theirs);
    await afterBans(3);
    theirs.advance(clock.now() - theirs.now());
    const { banEnds } = await limitStatus();
    await untilBanned(far, theirs);
    expect((await limitStatus()).banEnds).toBe(banEnds);
  });

  test("keep their ban schedule when those of another process begin, and lose it after a day", async () => {
    const { other } = await afterBans(3);
    clock.advance(HOUR);
    await untilBanned(other);
    expect((await limitStatus()).nextBan).toBe(8 * 60);
    clock.advance(DAY + HOUR);
    await untilBanned(other);
    expect((await limitStatus()).nextBan).toBe(2 * 60);
  });

  test("are read until they end, also on a machine that has started since", async () => {
    const ends = async () => new LimitStore(storage).banEnds(new ClockReader(clock).now());
    expect(await ends()).toEqual(new Map());
    await untilBanned(await start());
    const { banEnds } = await limitStatus();
    expect(await ends()).toEqual(new Map([[caller.keyId, banEnds as number]]));
    clock.advance(MINUTE / 2);
    clock.reboot();
    expect(await ends()).toEqual(new Map([[caller.keyId, banEnds as number]]));
    clock.advance(MINUTE / 2);
    expect(await ends()).toEqual(new Map());
  });

  test("of Valkey are replaced if its clock was a year ahead", async () => {
    const limits = new LimitStore(storage);
    const save = async (wall: number, level: number) => {
      const end = { wall, monotonic: wall, boot: 0 };
      const windows = { minuteEnd: end, minuteUsed: level, day: 0, dayUsed: 1, earlierDays: [] };
      await limits.saveWindows([[caller, windows]]);
      await limits.saveBans([{ keyId: caller.keyId, shop: caller, ban: { end, level } }]);
    };
    await save(NOON + 365 * DAY, 2);
    await save(NOON + MINUTE, 1);
    const stored = (await limits.storedLimits([caller.accountId])).get(caller);
    expect(stored).toMatchObject({ minuteEnds: NOON + MINUTE, minuteUsed: 1 });
    expect(await limits.banEnds(new ClockReader(clock).now())).toEqual(
      new Map([[caller.keyId, (NOON + MINUTE) / 1_000]]),
    );
  });

  describe("bans from a clock that was ten years ahead", () => {
    beforeEach(async () => {
      clock.setWall(NOON + 3_652 * DAY);
      await untilBanned(await start());
      clock.setWall(NOON);
      clock.reboot();
    });

    test.each([2, 30, 400])(
      "are replaced by a ban with the correct clock, and are inactive %d days later",
      async (days) => {
        // Of a process that has not read the first one, and whose clock is right.
        const ban = { end: { wall: NOON + MINUTE, monotonic: MINUTE, boot: clock.boot.id }, level: 1 };
        await new LimitStore(storage).saveBans([{ keyId: caller.keyId, shop: caller, ban }]);
        clock.advance(days * DAY);
        clock.reboot();
        expect(await limitStatus()).toMatchObject({ banEnds: undefined, nextBan: 60 });
      },
    );

    test("are active again at the first start with the correct clock", async () => {
      const first = await start();
      expect((await first.limitStatus(caller)).banEnds).toBe((NOON + MINUTE) / 1000);
      await first.save();
      clock.advance(MINUTE / 2);
      clock.reboot();
      expect((await limitStatus()).banEnds).toBe((NOON + MINUTE) / 1000);
      for (const days of [2, 30, 400]) {
        clock.advance(days * DAY);
        expect((await limitStatus()).banEnds).toBeUndefined();
        clock.reboot();
        expect((await limitStatus()).banEnds).toBeUndefined();
      }
    });
  });

  test.skipIf(onPostgres)("that are lifted are noticed without an error if a write sees them first", async () => {
    await storage.close();
    const causes: string[] = [];
    const observer = { ...silentObserver, failed: (cause: string) => void causes.push(cause) };
    storage = await openStorage(readConfig(store.settings), observer);
    const lifted: string[] = [];
    const bans = await LiftedBans.open(storage, (keyId) => lifted.push(keyId));
    const other = await store.open();
    await other.write(() => liftBan(caller, "key_1", clock.now()));
    await storage.write(() => liftBan(caller, "key_2", clock.now()));
    await bans.refresh();
    expect([lifted.toSorted(), causes]).toEqual([["key_1", "key_2"], []]);
    await other.close();
  });
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
      await limits.saveBans(
        inTurn.map((shop) => ({ shop, keyId: `key of ${shop.accountId}`, ban: { end, level: 1 } })),
      );
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
