import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { array, assert, asyncProperty, constantFrom, integer, oneof, property, record } from "fast-check";
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
import { rounds } from "../../test/harness/test-length.ts";
import { migrations } from "../app/schema.ts";
import type { Caller } from "../contract/caller.ts";
import type { LimiterAdmission } from "../contract/limits.ts";
import { SqliteStorage } from "../storage/sqlite/sqlite-storage.ts";
import { admissionOf, WindowLimiter } from "./limiter.ts";
import { LimitStore } from "./limits.store.ts";
import { MemoryCounts } from "./memory-counts.ts";
import { limitsOf, Windows } from "./windows.ts";

const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** To 2030-12-05. */
const LEAP = Date.UTC(2030, 11, 5) - Date.UTC(2026, 10, 21);
const noonSecond = NOON / SECOND;

const folder = mkdtempSync(join(tmpdir(), "petstore-limits-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** An empty store. A copy of it is cheaper than a new one, of which hundreds are needed. */
const emptyStore = join(folder, "empty.db");
beforeAll(() => new SqliteStorage(emptyStore, migrations).close());
let stores = 0;
function newFile(): string {
  const file = join(folder, `${++stores}.db`);
  copyFileSync(emptyStore, file);
  return file;
}

limiterConformance("a limiter in memory", async (clock) => {
  const storage = new SqliteStorage(newFile(), migrations);
  const limiter = new WindowLimiter(new MemoryCounts(clock, new LimitStore(storage)));
  return { limiter, close: () => storage.close() };
});

describe("a limiter in memory, over time,", () => {
  let clock: ManualClock;
  let file: string;
  let storage: SqliteStorage;
  let counts: MemoryCounts;
  let limiter: WindowLimiter;

  const start = () => {
    storage = new SqliteStorage(file, migrations);
    counts = new MemoryCounts(clock, new LimitStore(storage));
    limiter = new WindowLimiter(counts);
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
  const send = async (times: number, caller: Caller = who): Promise<LimiterAdmission[]> => {
    const answers: LimiterAdmission[] = [];
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
      await counts.save();
      clock.advance(20 * SECOND);
      await restart();
      expect(await sendOne()).toMatchObject({ verdict: "admitted", remaining: 0, reset: noonSecond + 60 });
      expect(await sendOne()).toMatchObject({ verdict: "limited", reset: noonSecond + 60, retryAfter: 40 });
      clock.advance(40 * SECOND);
      expect(await sendOne(callerOf("acc_1", "key_1", { perMinute: 100, perDay: 10 }))).toMatchObject({ remaining: 6 });
    });

    test("has lost only what was not saved", async () => {
      await send(1);
      await counts.save();
      await send(1);
      await restart();
      expect((await send(3)).map(({ verdict }) => verdict)).toEqual(["admitted", "admitted", "limited"]);
    });
  });

  describe("when the wall clock is set,", () => {
    test.each([-DAY, -HOUR, -61 * SECOND])("back by %p ms, a window whose end is too far away is new", async (jump) => {
      await send(3);
      clock.setWall(clock.now() + jump);
      const now = clock.now() / SECOND;
      expect(await sendOne()).toMatchObject({ verdict: "admitted", remaining: 2, reset: now + 60 });
      const { day } = await limiter.limitStatus(who);
      expect(day.used).toBe(jump === -DAY ? 1 : 4);
    });

    test("forward, windows end", async () => {
      await send(3);
      clock.setWall(clock.now() + DAY);
      expect(await sendOne()).toMatchObject({ verdict: "admitted", remaining: 2 });
      expect((await limiter.limitStatus(who)).day.used).toBe(1);
    });
  });

  /**
   * Runs random stories: the limiter is saved and restarted, and the wall clock is set wrong by this many milliseconds
   * and corrected, at any time.
   */
  const tell = async (wrong: number) => {
    const event = oneof(
      { weight: 8, arbitrary: arbitraryEvent },
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
          await counts.save();
          model.save();
        } else if (one === "end") {
          await restart();
          model.restart();
        } else if (one === "set") {
          clock.setWall(clock.now() + next);
          next = -next;
        } else await happen(one, clock, limiter, model);
      }
    });
    await assert(told, { numRuns: rounds(12, 40) });
  };

  test.each([0, -LEAP, -2 * DAY, -DAY, -HOUR, -1_500, 1_500, HOUR, DAY, 2 * DAY, LEAP])(
    "agrees with the model, saved and restarted at any time, its clock set wrong by %p ms and right again",
    tell,
  );
});

describe("a decision on n requests", () => {
  const quota = { perMinute: 44, perDay: 100 };
  const story = array(
    oneof(
      record({ requests: integer({ min: 1, max: 70 }), keyId: constantFrom("key_1", "key_2") }),
      record({ passes: integer({ min: 1, max: 40_000 }) }),
    ),
    { maxLength: 60, size: "max" },
  );

  test("equals n decisions on one request each at the same instant", () => {
    const told = property(arbitraryStart, story, (start, events) => {
      const names = { kind: "test", owner: "acc_1" } as const;
      const [together, single] = [new Windows(names), new Windows(names)];
      let now = start;
      for (const event of events) {
        if ("passes" in event) now += event.passes;
        else {
          const { requests, keyId } = event;
          const sender = { limits: limitsOf(quota, keyId, keyId === "key_1" ? null : 10), keyId, strikesForBan: 22 };
          const all = together.admit(sender, requests, now);
          const answers = Array.from({ length: requests }, (_, position) => admissionOf(all, position));
          const each = answers.map(() => admissionOf(single.admit(sender, 1, now), 0));
          expect(answers).toEqual(each);
          expect(together.admit(sender, 0, now)).toEqual(single.admit(sender, 0, now));
        }
      }
    });
    assert(told, { numRuns: rounds(100, 500) });
  });
});
