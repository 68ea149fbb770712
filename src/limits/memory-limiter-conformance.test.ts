import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, asyncProperty, constantFrom, oneof } from "fast-check";
import { limiterConformance } from "../../test/conformance/limiter.ts";
import {
  arbitraryEvent,
  arbitraryStart,
  callerOf,
  happen,
  LimiterModel,
  storyOf,
} from "../../test/conformance/limiter-model.ts";
import { ManualClock, NOON } from "../../test/harness/manual-clock.ts";
import type { Caller } from "../contract/caller.ts";
import type { Admission } from "../http/interfaces.ts";
import { SqliteStorage } from "../storage/sqlite/sqlite-storage.ts";
import { LimitStore } from "./limits.store.ts";
import { MemoryLimiter } from "./memory-limiter.ts";

const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** To 2030-12-05. */
const LEAP = Date.UTC(2030, 11, 5) - Date.UTC(2026, 10, 21);
const addressQuota = { perMinute: 60, perDay: 1_000 };
const noonSecond = NOON / SECOND;

const folder = mkdtempSync(join(tmpdir(), "petstore-limits-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** An empty store. A copy of it is cheaper than a new one, of which hundreds are needed. */
const emptyStore = join(folder, "empty.db");
beforeAll(() => new SqliteStorage(emptyStore).close());
let stores = 0;
function newFile(): string {
  const file = join(folder, `${++stores}.db`);
  copyFileSync(emptyStore, file);
  return file;
}

limiterConformance("MemoryLimiter", async (clock, quota) => {
  const storage = new SqliteStorage(newFile());
  const limiter = new MemoryLimiter(new LimitStore(storage), clock, quota);
  return { limiter, close: () => storage.close() };
});

describe("MemoryLimiter over time", () => {
  let clock: ManualClock;
  let file: string;
  let storage: SqliteStorage;
  let limiter: MemoryLimiter;

  const start = () => {
    storage = new SqliteStorage(file);
    limiter = new MemoryLimiter(new LimitStore(storage), clock, addressQuota);
  };
  /** Ends the process without a last save, and starts it again. */
  const restart = async () => {
    await storage.close();
    start();
  };
  beforeEach(async () => {
    clock = new ManualClock();
    file = newFile();
    start();
  });
  afterEach(() => storage.close());

  const who = callerOf("acc_1", "key_1", { perMinute: 3, perDay: 10 });
  const sendOne = async (caller: Caller = who) => limiter.admit(caller);
  const send = async (times: number, caller: Caller = who): Promise<Admission[]> => {
    const answers: Admission[] = [];
    for (let time = 0; time < times; time++) answers.push(await sendOne(caller));
    return answers;
  };
  test("decides at once for an account in memory", async () => {
    await sendOne();
    expect(limiter.admit(who)).not.toBeInstanceOf(Promise);
  });

  describe("after a restart", () => {
    test("continues with the minute and the day as they were saved", async () => {
      await send(2);
      await limiter.save();
      clock.advance(20 * SECOND);
      await restart();
      expect(await sendOne()).toMatchObject({ verdict: "admitted", remaining: 0, reset: noonSecond + 60 });
      expect(await sendOne()).toMatchObject({ verdict: "limited", reset: noonSecond + 60, retryAfter: 40 });
      clock.advance(40 * SECOND);
      expect(await sendOne(callerOf("acc_1", "key_1", { perMinute: 100, perDay: 10 }))).toMatchObject({ remaining: 6 });
    });

    test("has lost only what was not saved", async () => {
      await send(1);
      await limiter.save();
      await send(1);
      await restart();
      expect((await send(3)).map(({ verdict }) => verdict)).toEqual(["admitted", "admitted", "limited"]);
    });

    test("continues with the advanced clock of a sandbox", async () => {
      await limiter.setClockOffset(who, 30 * DAY);
      await send(3);
      await limiter.save();
      await restart();
      expect(await sendOne()).toMatchObject({ verdict: "limited", reset: noonSecond + 60, retryAfter: 60 });
      await limiter.setClockOffset(who, 30 * DAY + 60 * SECOND);
      clock.reboot();
      await restart();
      expect(await sendOne()).toMatchObject({ verdict: "admitted", reset: noonSecond + 60 });
    });

    test("extends no minute although the wall clock was set back before the start", async () => {
      await send(3);
      await limiter.save();
      clock.setWall(clock.now() - HOUR);
      clock.reboot();
      await restart();
      expect(await sendOne()).toMatchObject({ verdict: "limited", retryAfter: 60 });
    });
  });

  describe("when the wall clock jumps", () => {
    const jumps: [string, number][] = [
      ["back by an hour", -HOUR],
      ["back by a day", -DAY],
      ["forward by an hour", HOUR],
      ["forward by a day", DAY],
      ["forward by a month", 30 * DAY],
    ];

    test.each(jumps)("%s, the minute neither ends nor restarts", async (_, jump) => {
      await send(3);
      clock.advance(20 * SECOND);
      clock.setWall(clock.now() + jump);
      const reset = noonSecond + jump / SECOND + 60;
      expect(await sendOne()).toMatchObject({ verdict: "limited", remaining: 0, reset, retryAfter: 40 });
      clock.advance(39_999);
      expect(await sendOne()).toMatchObject({ verdict: "limited", reset, retryAfter: 1 });
      clock.advance(1);
      expect((await sendOne()).verdict).toBe("admitted");
    });

    test.each(jumps)("%s and back, the day keeps its count", async (_, jump) => {
      await send(3);
      clock.setWall(clock.now() + jump);
      clock.advance(60 * SECOND);
      expect((await sendOne()).verdict).toBe("admitted");
      clock.setWall(clock.now() - jump);
      clock.advance(60 * SECOND);
      const sameDay = Math.abs(jump) < DAY;
      const { remaining } = await sendOne(callerOf("acc_1", "key_1", { perMinute: 100, perDay: 10 }));
      expect(remaining).toBe(sameDay ? 5 : 6);
    });
  });

  test("a day keeps its count although a clock that was a day wrong was corrected after midnight", async () => {
    const caller = callerOf("acc_1", "key_1", { perMinute: 100, perDay: 10 });
    clock.setWall(NOON + DAY / 2 - 30 * SECOND);
    await send(4, caller);
    clock.setWall(clock.now() - DAY);
    await send(1, caller);
    clock.advance(60 * SECOND); // midnight passes without a request
    clock.setWall(clock.now() + DAY);
    await send(1, caller);
    clock.setWall(clock.now() - DAY);
    expect((await sendOne(caller)).remaining).toBe(5);
  });

  /**
   * Runs random stories: the limiter is saved and restarted, with or without a reboot of the machine, and the wall
   * clock is set wrong by this many milliseconds and corrected, at any time.
   */
  const tell = async (wrong: number, withMachine: boolean) => {
    // A clock that is wrong by two days, for several days, visits more days than are kept.
    const known = arbitraryEvent.filter(
      (one) => Math.abs(wrong) <= DAY || one.kind === "requests" || one.milliseconds < DAY / 2,
    );
    const event = oneof(
      { weight: 8, arbitrary: known },
      { weight: 2, arbitrary: constantFrom("save" as const, "end" as const, "set" as const) },
    );
    const told = asyncProperty(arbitraryStart, storyOf(event), async (wall, story) => {
      await storage.close();
      clock = new ManualClock(wall);
      file = newFile();
      start();
      const model = new LimiterModel(clock);
      let next = wrong;
      for (const one of story) {
        if (one === "save") {
          await limiter.save();
          model.save();
        } else if (one === "end") {
          if (withMachine) clock.reboot();
          await restart();
          model.restart();
        } else if (one === "set") {
          clock.setWall(clock.now() + next);
          next = -next;
        } else await happen(one, clock, limiter, model);
      }
    });
    await assert(told, { numRuns: 40 });
  };

  describe("agrees with the model", () => {
    test("with any saves and restarts of the machine", () => tell(0, true));

    test.each([-LEAP, -2 * DAY, -DAY, -HOUR, -1_500, 1_500, HOUR, DAY, 2 * DAY, LEAP])(
      "however often the wall clock is set wrong by %p ms and right again, also while nothing runs",
      (wrong) => tell(wrong, false),
    );
  });
});
