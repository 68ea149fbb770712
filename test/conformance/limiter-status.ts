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
      });
      expect(await tested.limiter.limitStatus(caller({}, "key_1"))).toMatchObject({ strikes: 0 });
      expect((await free(caller({}, "key_1", "acc_2"))).verdict).toBe("admitted");
      tested.clock.advance(60 * SECOND);
      expect((await free()).verdict).toBe("admitted");
    });
  });
}
