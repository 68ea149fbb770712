import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  caller,
  LimiterUnderTest,
  midnightSecond,
  noonSecond,
  type OpenLimiter,
  SECOND,
  verdicts,
} from "./limiter-under-test.ts";

/** The part of the suite for limiters that is about looking at the limits without using them up. */
export function limitStatusConformance(open: OpenLimiter): void {
  let tested: LimiterUnderTest;
  beforeEach(async () => {
    tested = await LimiterUnderTest.start(open);
  });
  afterEach(() => tested.close());

  const free = async (who = caller()) => tested.limiter.admitSeparately(who, "plan");

  describe("a look at a key", () => {
    test("shows both windows, and counts nothing", async () => {
      await tested.send(caller(), 2);
      tested.clock.advance(20 * SECOND);
      for (let look = 0; look < 10; look++) {
        expect(await tested.limiter.limitStatus(caller({}, "key_2"))).toEqual({
          minute: { limit: 3, used: 2, remaining: 1, reset: noonSecond + 60 },
          day: { limit: 1_000, used: 2, remaining: 998, reset: midnightSecond },
          strikes: 0,
        });
      }
      expect(verdicts(await tested.send(caller(), 2))).toEqual(["admitted", "limited"]);
    });

    test("shows that nothing is left after a plan became smaller", async () => {
      await tested.send(caller(), 3);
      expect((await tested.limiter.limitStatus(caller({ perMinute: 1 }))).minute).toMatchObject({
        used: 3,
        remaining: 0,
      });
    });

    test("shows its strikes as long as they count", async () => {
      await tested.send(caller({ perMinute: 80 }), 81);
      tested.clock.advance(SECOND);
      await tested.send(caller({ perMinute: 80 }), 7);
      expect((await tested.limiter.limitStatus(caller({ perMinute: 80 }))).strikes).toBe(7);
      expect((await tested.limiter.limitStatus(caller({ perMinute: 80 }, "key_2"))).strikes).toBe(0);
      tested.clock.advance(59 * SECOND);
      expect((await tested.limiter.limitStatus(caller({ perMinute: 80 }))).strikes).toBe(0);
    });
  });

  describe("a key with a limit of its own", () => {
    const tight = caller({ limitPerMinute: 2 }, "key_tight");

    test("is limited alone, and uses up the minute of the account", async () => {
      expect(verdicts(await tested.send(tight, 3))).toEqual(["admitted", "admitted", "limited"]);
      expect(await tested.sendOne(tight)).toMatchObject({ limit: 2, remaining: 0, window: "key", retryAfter: 60 });
      expect(await tested.sendOne(caller())).toMatchObject({ verdict: "admitted", limit: 3, remaining: 0 });
      expect(await tested.limiter.limitStatus(tight)).toMatchObject({
        key: { limit: 2, used: 2, remaining: 0, reset: noonSecond + 60 },
        minute: { used: 3 },
        day: { used: 3 },
      });
      expect(await tested.limiter.limitStatus(caller())).not.toHaveProperty("key");
    });

    test("shows its minute if that has less left; in a tie, the day, then the account's minute", async () => {
      const shown = async (own: number, rest = {}) => {
        const who = caller({ perMinute: 5, perDay: 1_000, limitPerMinute: own, ...rest }, "key_new", `acc_${own}`);
        return tested.sendOne(who);
      };
      expect(await shown(4)).toMatchObject({ limit: 4, remaining: 3, reset: noonSecond + 60 });
      await tested.send(caller({}, "key_2", "acc_5"), 1); // 20 s earlier than the key's minute
      tested.clock.advance(20 * SECOND);
      expect(await shown(5, { perMinute: 6 })).toMatchObject({ limit: 6, remaining: 4, reset: noonSecond + 60 });
      expect(await shown(7, { perMinute: 7, perDay: 7 })).toMatchObject({ remaining: 6, reset: midnightSecond });
    });

    test("keeps its minute when a new day begins, also if another key sends the day's first request", async () => {
      const own = caller({ perMinute: 9, limitPerMinute: 2 }, "key_tight");
      tested.clock.setWall(midnightSecond * SECOND - 10 * SECOND);
      await tested.send(own, 2);
      tested.clock.advance(20 * SECOND);
      await tested.sendOne(caller({ perMinute: 9 }, "key_2"));
      expect(await tested.sendOne(own)).toMatchObject({ verdict: "limited", window: "key", retryAfter: 40 });
      tested.clock.advance(40 * SECOND);
      expect(await tested.sendOne(own)).toMatchObject({ verdict: "admitted", limit: 2, remaining: 1 });
    });

    test("has the strikes of others: half the plan's limit", async () => {
      const who = caller({ perMinute: 100, limitPerMinute: 1 });
      await tested.send(who, 2);
      tested.clock.advance(SECOND);
      const found = (await tested.send(who, 50)).map(({ isLastStrike }) => isLastStrike);
      expect(found).toEqual([...Array(49).fill(undefined), true]);
    });
  });

  describe("a free request", () => {
    test("uses no quota, and returns the limits of the account", async () => {
      await tested.send(caller(), 1);
      expect(await free()).toEqual({
        verdict: "admitted",
        limit: 3,
        remaining: 2,
        reset: noonSecond + 60,
        retryAfter: 0,
      });
      expect(verdicts(await tested.send(caller(), 3))).toEqual(["admitted", "admitted", "limited"]);
      expect(await free()).toMatchObject({ verdict: "admitted", remaining: 0 });
    });

    test("is admitted up to the plan's limit for all keys of the shop together, and is no strike", async () => {
      await tested.send(caller(), 4);
      tested.clock.advance(2 * SECOND);
      const admissions = [];
      for (let request = 0; request < 60; request++) admissions.push(await free(caller({}, `key_${request % 2}`)));
      expect(verdicts(admissions)).toEqual([...Array(3).fill("admitted"), ...Array(57).fill("limited")]);
      expect(admissions.at(-1)).toEqual({
        verdict: "limited",
        limit: 3,
        remaining: 0,
        reset: noonSecond + 62,
        retryAfter: 60,
        window: "minute",
      });
      expect(await tested.limiter.limitStatus(caller({}, "key_1"))).toMatchObject({ strikes: 0 });
      expect((await free(caller({}, "key_1", "acc_2"))).verdict).toBe("admitted");
      tested.clock.advance(60 * SECOND);
      expect((await free()).verdict).toBe("admitted");
    });
  });
}
