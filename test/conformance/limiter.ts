import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { assert, asyncProperty } from "fast-check";
import type { Quota } from "../../src/contract/caller.ts";
import { rounds } from "../harness/test-length.ts";
import { arbitraryEvent, arbitraryStart, happen, happenAtOnce, LimiterModel, storyOf } from "./limiter-model.ts";
import { modesConformance } from "./limiter-modes.ts";
import { limitStatusConformance } from "./limiter-status.ts";
import { strikesConformance } from "./limiter-strikes.ts";
import {
  caller,
  LimiterUnderTest,
  midnightSecond,
  noonSecond,
  type OpenLimiter,
  SECOND,
  verdicts,
} from "./limiter-under-test.ts";

async function figuresOf(tested: LimiterUnderTest, quota: Quota) {
  const { limit, remaining, reset } = await tested.sendOne(caller(quota));
  return { limit, remaining, reset };
}

/** Declares the tests that every implementation of `Limiter` must pass. `stories` is the number of random stories. */
export function limiterConformance(name: string, open: OpenLimiter, stories = rounds(50, 150)): void {
  describe(`${name} keeps the promises of the interface Limiter:`, () => {
    let tested: LimiterUnderTest;
    beforeEach(async () => {
      tested = await LimiterUnderTest.start(open);
    });
    afterEach(() => tested.close());

    describe("the minute", () => {
      test("admits exactly the limit", async () => {
        expect(verdicts(await tested.send(caller(), 5))).toEqual([
          "admitted",
          "admitted",
          "admitted",
          "limited",
          "limited",
        ]);
      });

      test("admits exactly the limit of requests that come at once", async () => {
        const admissions = await Promise.all(
          Array.from({ length: 200 }, () => tested.sendOne(caller({ perMinute: 50 }))),
        );
        expect(admissions.filter(({ verdict }) => verdict === "admitted")).toHaveLength(50);
      });

      test("starts with the first request and ends 60 s later, not sooner", async () => {
        tested.clock.advance(37_123);
        await tested.send(caller(), 3);
        tested.clock.advance(59_999);
        expect((await tested.sendOne(caller())).verdict).toBe("limited");
        tested.clock.advance(1);
        expect(verdicts(await tested.send(caller(), 4))).toEqual(["admitted", "admitted", "admitted", "limited"]);
      });

      test("reports a constant reset, at the window's end", async () => {
        tested.clock.advance(250);
        const resets = new Set<number>();
        for (let request = 0; request < 3; request++) {
          resets.add((await tested.sendOne(caller())).reset);
          tested.clock.advance(11_111);
        }
        for (let request = 0; request < 3; request++) {
          resets.add((await tested.sendOne(caller())).reset);
          tested.clock.advance(7_777);
        }
        expect([...resets]).toEqual([noonSecond + 61]); // rounded up: at that second it has ended
      });

      test("starts again with the next request, however late it comes", async () => {
        await tested.send(caller(), 3);
        tested.clock.advance(200_000);
        expect(await tested.sendOne(caller())).toEqual({
          verdict: "admitted",
          limit: 3,
          remaining: 2,
          reset: noonSecond + 260,
          retryAfter: 0,
        });
      });
    });

    describe("the day", () => {
      test("is the UTC calendar day", async () => {
        const who = caller({ perDay: 2 });
        tested.clock.setWall(midnightSecond * SECOND - 500);
        expect(verdicts(await tested.send(who, 3))).toEqual(["admitted", "admitted", "limited"]);
        tested.clock.advance(499);
        expect((await tested.sendOne(who)).verdict).toBe("limited");
        tested.clock.advance(1);
        expect((await tested.sendOne(who)).verdict).toBe("admitted");
      });

      test("counts what all minutes admitted", async () => {
        const who = caller({ perMinute: 2, perDay: 5 });
        const admitted: number[] = [];
        for (let minute = 0; minute < 4; minute++) {
          admitted.push((await tested.send(who, 4)).filter(({ verdict }) => verdict === "admitted").length);
          tested.clock.advance(60_000);
        }
        expect(admitted).toEqual([2, 2, 1, 0]);
      });
    });

    describe("the returned limit and remaining requests are", () => {
      test("those of the minute if it has less left", async () => {
        expect(await figuresOf(tested, { perMinute: 3, perDay: 4 })).toEqual({
          limit: 3,
          remaining: 2,
          reset: noonSecond + 60,
        });
      });

      test("those of the day if it has less left", async () => {
        const reset = midnightSecond;
        expect(await figuresOf(tested, { perMinute: 4, perDay: 3 })).toEqual({ limit: 3, remaining: 2, reset });
      });

      test("those of the day if both have the same left", async () => {
        await tested.send(caller({ perMinute: 5, perDay: 6 }), 2);
        tested.clock.advance(60_000);
        const reset = midnightSecond;
        expect(await figuresOf(tested, { perMinute: 4, perDay: 6 })).toEqual({ limit: 6, remaining: 3, reset });
        expect(await figuresOf(tested, { perMinute: 4, perDay: 6 })).toEqual({ limit: 6, remaining: 2, reset });
      });

      test("never below zero, even if the plan has become smaller", async () => {
        await tested.send(caller({ perMinute: 10 }), 8);
        expect(await tested.sendOne(caller({ perMinute: 5 }))).toMatchObject({
          verdict: "limited",
          limit: 5,
          remaining: 0,
        });
      });

      test("those of the new plan at once if it has become larger", async () => {
        await tested.send(caller(), 4);
        const admission = await tested.sendOne(caller({ perMinute: 10 }));
        expect(admission).toMatchObject({ verdict: "admitted", limit: 10, remaining: 6 });
      });
    });

    describe("addresses", () => {
      test("have separate minutes and days", async () => {
        expect(
          verdicts(await tested.sendFrom("192.0.2.1", 61)).filter((verdict) => verdict === "admitted"),
        ).toHaveLength(60);
        expect(await tested.limiter.admitAddress("192.0.2.1")).toEqual({
          verdict: "limited",
          limit: 60,
          remaining: 0,
          reset: noonSecond + 60,
          retryAfter: 60,
          window: "minute",
        });
        expect(await tested.limiter.admitAddress("192.0.2.2")).toMatchObject({ verdict: "admitted", remaining: 59 });
      });

      test("may send 1,000 requests a day", async () => {
        let admitted = 0;
        for (let minute = 0; minute < 20; minute++) {
          admitted += verdicts(await tested.sendFrom("192.0.2.1", 60)).filter(
            (verdict) => verdict === "admitted",
          ).length;
          tested.clock.advance(60_000);
        }
        expect(admitted).toBe(1_000);
        expect(await tested.limiter.admitAddress("192.0.2.1")).toMatchObject({ limit: 1_000, reset: midnightSecond });
      });

      test("have no strikes", async () => {
        await tested.sendFrom("192.0.2.1", 61);
        tested.clock.advance(SECOND);
        const found = await tested.sendFrom("192.0.2.1", 300);
        expect(found.filter(({ verdict, isLastStrike }) => verdict !== "limited" || isLastStrike)).toEqual([]);
      });

      test("can be read without being counted", async () => {
        for (let look = 0; look < 100; look++) {
          expect(await tested.limiter.peekAddress("192.0.2.1")).toMatchObject({ limit: 60, remaining: 60 });
        }
        await tested.sendFrom("192.0.2.1", 2);
        expect(await tested.limiter.peekAddress("192.0.2.1")).toMatchObject({ remaining: 58, reset: noonSecond + 60 });
        tested.clock.advance(60 * SECOND);
        await tested.limiter.peekAddress("192.0.2.1"); // does not start the next minute
        tested.clock.advance(20 * SECOND);
        await tested.sendFrom("192.0.2.1", 1);
        expect(await tested.limiter.peekAddress("192.0.2.1")).toMatchObject({ remaining: 59, reset: noonSecond + 140 });
      });

      test("are separate from accounts of the same name", async () => {
        await tested.sendFrom("acc_1", 60);
        expect((await tested.sendOne(caller({ perMinute: 60 }))).remaining).toBe(59);
      });
    });

    strikesConformance(open);
    limitStatusConformance(open);
    modesConformance(open);

    test.each([
      ["one by one", happen],
      ["in one turn of the event loop", happenAtOnce],
    ])("requests that come %s are decided like in the model", async (_how, run) => {
      await assert(
        asyncProperty(arbitraryStart, storyOf(arbitraryEvent), async (wall, story) => {
          const fresh = await LimiterUnderTest.start(open, wall);
          const model = new LimiterModel(fresh.clock);
          for (const event of story) await run(event, fresh.clock, fresh.limiter, model);
          await fresh.close();
        }),
        { numRuns: stories },
      );
    });
  });
}
