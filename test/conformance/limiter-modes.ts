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

    describe("after a fast-forward of the sandbox", () => {
      const [sandbox, live] = [caller(), other];
      const forward = (seconds: number) => tested.limiter.bringNearer(sandbox, seconds * SECOND);

      test("by 60 s, its minute has ended, and what responses show is real time", async () => {
        await tested.send(sandbox, 4);
        await forward(59);
        expect(await tested.sendOne(sandbox)).toMatchObject({
          verdict: "limited",
          reset: noonSecond + 1,
          retryAfter: 1,
        });
        await forward(1);
        const admitted = await tested.sendOne(sandbox);
        expect(admitted).toMatchObject({ verdict: "admitted", remaining: 2, reset: noonSecond + 60 });
        expect((await tested.limiter.limitStatus(sandbox)).minute).toMatchObject({ used: 1, reset: noonSecond + 60 });
      });

      test("to the end of its minute, its strikes no longer count", async () => {
        await tested.send(sandbox, 4);
        tested.clock.advance(SECOND);
        await tested.send(sandbox, 19);
        expect((await tested.limiter.limitStatus(sandbox)).strikes).toBe(19);
        await forward(59);
        expect((await tested.limiter.limitStatus(sandbox)).strikes).toBe(0);
        expect((await tested.sendOne(sandbox)).verdict).toBe("admitted");
      });

      test("in steps, its day ends when they add up to the rest of it; the next one ends at midnight", async () => {
        const two = caller({ perDay: 2 });
        await tested.send(two, 2);
        await forward(11 * 3_600);
        expect(await tested.sendOne(two)).toMatchObject({
          verdict: "limited",
          reset: noonSecond + 3_600,
          retryAfter: 3_600,
        });
        await forward(3_600);
        const [first] = await tested.send(two, 2);
        expect(first).toMatchObject({ verdict: "admitted", limit: 2, remaining: 1, reset: midnightSecond });
        expect(await tested.sendOne(two)).toMatchObject({ verdict: "limited", reset: midnightSecond });
      });

      test("it admits at most three times the minute of its plan in a real minute", async () => {
        const tries = async () => verdicts(await tested.send(sandbox, 5)).filter((one) => one === "admitted").length;
        const admitted = [await tries()];
        for (let minute = 0; minute < 5; minute++) {
          tested.clock.advance(2 * SECOND);
          await forward(60);
          admitted.push(await tries());
        }
        expect(admitted).toEqual([3, 3, 3, 0, 0, 0]);
        expect(await tested.sendOne(sandbox)).toMatchObject({
          verdict: "limited",
          limit: 9,
          remaining: 0,
          reset: noonSecond + 60,
          retryAfter: 50,
        });
        tested.clock.advance(50 * SECOND);
        expect(await tries()).toBe(3);
      });

      test("the live shop, other accounts and addresses do not change", async () => {
        const neighbour = caller({}, "key_9", "acc_9");
        await tested.offend(live);
        await tested.offend(neighbour);
        await tested.sendFrom("192.0.2.1", 61);
        const all = () =>
          Promise.all([
            tested.sendOne(live),
            tested.limiter.limitStatus(live),
            tested.sendOne(neighbour),
            tested.limiter.limitStatus(neighbour),
            tested.limiter.limitStatus(inOtherMode(neighbour)),
            tested.limiter.peekAddress("192.0.2.1"),
            tested.limiter.admitSeparately(live, "plan"),
          ]);
        const before = await all();
        await forward(48 * 3_600);
        expect((await tested.sendOne(sandbox)).verdict).toBe("admitted");
        expect(await all()).toEqual(before);
      });

      test("the number and the first end of its windows are known; those of a live shop stay", async () => {
        expect((await tested.limiter.waiting(sandbox)).count).toBe(0);
        await tested.send(sandbox, 1);
        await forward(10);
        expect(await tested.limiter.waiting(sandbox)).toEqual({ count: 2, next: (noonSecond + 50) * SECOND });
        expect(() => tested.limiter.bringNearer(live, SECOND)).toThrow(TypeError);
      });
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

      test("is admitted 20 times in a minute of real time, whatever the plan is and is fast-forwarded", async () => {
        const all = Array.from({ length: 30 }, (_, index) => operate(caller({}, `key_${index % 3}`)));
        const admissions = await Promise.all(all);
        expect(verdicts(admissions)).toEqual([...Array(20).fill("admitted"), ...Array(10).fill("limited")]);
        await tested.limiter.bringNearer(sandbox, 48 * 3_600 * SECOND);
        tested.clock.advance(59 * SECOND);
        expect(await operate()).toEqual({
          verdict: "limited",
          limit: 20,
          remaining: 0,
          reset: noonSecond + 60,
          retryAfter: 1,
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
      await tested.limiter.bringNearer(caller(), 10 * SECOND);
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
