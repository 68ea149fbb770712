import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  caller,
  inOtherMode,
  LimiterUnderTest,
  midnightSecond,
  noonSecond,
  type OpenLimiter,
  SECOND,
  verdicts,
} from "./limiter-under-test.ts";

/** The part of the suite for limiters that is about the two shops of an account. */
export function modesConformance(open: OpenLimiter): void {
  describe("the two shops of an account", () => {
    const other = inOtherMode(caller());
    let tested: LimiterUnderTest;
    beforeEach(async () => {
      tested = await LimiterUnderTest.start(open);
    });
    afterEach(() => tested.close());

    test("have separate windows, each with the limits of the plan", async () => {
      await tested.send(caller(), 4);
      expect(verdicts(await tested.send(other, 4))).toEqual(["admitted", "admitted", "admitted", "limited"]);
      tested.clock.advance(60 * SECOND);
      await tested.send(other, 1);
      expect((await tested.limiter.limitStatus(other)).day.used).toBe(4);
      expect((await tested.limiter.limitStatus(caller())).day.used).toBe(3);
    });

    test("have keys whose strikes do not affect the other shop", async () => {
      await tested.offend(caller());
      expect((await tested.sendOne(caller())).verdict).toBe("limited");
      expect((await tested.sendOne(other)).verdict).toBe("admitted");
      expect((await tested.limiter.limitStatus(other)).strikes).toBe(0);
    });

    describe("a request for a sandbox", () => {
      const sandbox = caller();
      const operate = async (who = sandbox) => tested.limiter.admitSeparately(who, "sandbox");

      test("uses no quota, and is admitted with the current limits while the key is limited", async () => {
        await tested.send(sandbox, 1);
        expect(await operate()).toMatchObject({ verdict: "admitted", limit: 3, remaining: 2, reset: noonSecond + 60 });
        await tested.send(sandbox, 3);
        expect(await operate()).toMatchObject({ verdict: "admitted", remaining: 0 });
      });

      test("is admitted 20 times in a minute, whatever the plan is", async () => {
        const all = Array.from({ length: 30 }, (_, index) => operate(caller({}, `key_${index % 3}`)));
        const admissions = await Promise.all(all);
        expect(verdicts(admissions)).toEqual([...Array(20).fill("admitted"), ...Array(10).fill("limited")]);
        tested.clock.advance(59 * SECOND);
        expect(await operate()).toEqual({
          verdict: "limited",
          limit: 20,
          remaining: 0,
          reset: noonSecond + 60,
          retryAfter: 1,
          window: "minute",
        });
        expect((await operate(caller({}, "key_1", "acc_2"))).verdict).toBe("admitted");
        tested.clock.advance(SECOND);
        expect((await operate()).verdict).toBe("admitted");
        expect(await tested.limiter.limitStatus(sandbox)).toMatchObject({ strikes: 0 });
      });
    });

    test("are both forgotten with the account, and no other is", async () => {
      const neighbour = caller({}, "key_9", "acc_9");
      for (const who of [caller(), other, neighbour]) await tested.offend(who);
      for (let request = 0; request < 20; request++) await tested.limiter.admitSeparately(caller(), "sandbox");
      const before = await tested.limiter.limitStatus(neighbour);
      await tested.limiter.forget("acc_1");
      for (const who of [caller(), other]) {
        expect(await tested.limiter.limitStatus(who)).toMatchObject({
          minute: { used: 0 },
          day: { used: 0, reset: midnightSecond },
          strikes: 0,
        });
        expect((await tested.sendOne(who)).verdict).toBe("admitted");
        expect((await tested.limiter.admitSeparately(who, "sandbox")).verdict).toBe("admitted");
      }
      expect(await tested.limiter.limitStatus(neighbour)).toEqual(before);
      await tested.limiter.forget("acc_1");
      await tested.limiter.forget("acc_of_nobody");
    });

    test("have separate limits for free requests", async () => {
      for (let request = 0; request < 4; request++) await tested.limiter.admitSeparately(caller(), "plan");
      expect((await tested.limiter.admitSeparately(caller(), "plan")).verdict).toBe("limited");
      expect((await tested.limiter.admitSeparately(other, "plan")).verdict).toBe("admitted");
    });
  });
}
