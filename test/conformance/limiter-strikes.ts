import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Admission } from "../../src/http/interfaces.ts";
import { NOON } from "../harness/manual-clock.ts";
import {
  caller,
  HOUR,
  LimiterUnderTest,
  midnightSecond,
  noonSecond,
  type OpenLimiter,
  SECOND,
  verdicts,
} from "./limiter-under-test.ts";

/** The part of the suite for limiters that tests requests over the limit, and strikes. */
export function strikesConformance(open: OpenLimiter): void {
  describe("requests over the limit:", () => {
    let tested: LimiterUnderTest;
    beforeEach(async () => {
      tested = await LimiterUnderTest.start(open);
    });
    afterEach(() => tested.close());

    describe("a request over the limit", () => {
      test("returns the exact time until the end of the minute", async () => {
        await tested.send(caller(), 3);
        const told: Admission[] = [];
        for (const milliseconds of [0, 1, 998, 1, 29_000, 29_999]) {
          tested.clock.advance(milliseconds);
          told.push(await tested.sendOne(caller()));
        }
        expect(told.map(({ retryAfter }) => retryAfter)).toEqual([60, 60, 60, 59, 30, 1]);
        expect(new Set(told.map(({ reset }) => reset))).toEqual(new Set([noonSecond + 60]));
        expect(new Set(told.map(({ remaining }) => remaining))).toEqual(new Set([0]));
      });

      test("returns the exact time until the end of the day", async () => {
        await tested.send(caller({ perDay: 2 }), 2);
        expect(await tested.sendOne(caller({ perDay: 2 }))).toEqual({
          verdict: "limited",
          limit: 2,
          remaining: 0,
          reset: midnightSecond,
          retryAfter: 12 * 3_600,
          window: "day",
        });
      });

      test("returns the later end if both windows are used up", async () => {
        const who = caller({ perMinute: 2, perDay: 2 });
        await tested.send(who, 2);
        expect(await tested.sendOne(who)).toMatchObject({ reset: midnightSecond, retryAfter: 12 * 3_600 });
        tested.clock.setWall(midnightSecond * SECOND - 20 * SECOND);
        const other = caller({ perMinute: 2, perDay: 2 }, "key_2", "acc_2");
        await tested.send(other, 2);
        expect(await tested.sendOne(other)).toMatchObject({ reset: midnightSecond + 40, retryAfter: 60 });
      });

      test("does not count", async () => {
        const who = caller({ perMinute: 2, perDay: 4 });
        await tested.send(who, 15);
        tested.clock.advance(60_000);
        expect((await tested.send(who, 2)).map(({ remaining }) => remaining)).toEqual([1, 0]);
      });

      test("is admitted after the returned time", async () => {
        tested.clock.advance(123);
        await tested.send(caller(), 3);
        for (const milliseconds of [7, 20_500, 39_492]) {
          tested.clock.advance(milliseconds);
          const { retryAfter } = await tested.sendOne(caller());
          expect(retryAfter).toBeGreaterThanOrEqual(1);
        }
        tested.clock.advance((await tested.sendOne(caller())).retryAfter * SECOND);
        expect((await tested.sendOne(caller())).verdict).toBe("admitted");
      });
    });

    describe("strikes:", () => {
      test("requests within a second of the first 429 are no strikes", async () => {
        await tested.send(caller(), 3);
        await tested.send(caller(), 500);
        tested.clock.advance(999);
        expect(new Set(verdicts(await tested.send(caller(), 500)))).toEqual(new Set(["limited"]));
      });

      test("the 20th is the last", async () => {
        await tested.send(caller(), 4);
        tested.clock.advance(SECOND);
        const found = (await tested.send(caller(), 20)).map(({ isLastStrike }) => isLastStrike);
        expect(found).toEqual([...Array(19).fill(undefined), true]);
      });

      test("with a high limit, half of the limit are allowed", async () => {
        const who = caller({ perMinute: 100 });
        await tested.send(who, 101);
        tested.clock.advance(SECOND);
        const found = (await tested.send(who, 50)).map(({ isLastStrike }) => isLastStrike);
        expect(found).toEqual([...Array(49).fill(undefined), true]);
      });

      test("the last is a 429 like the others, and forgets all: the next 429 starts another second of grace", async () => {
        expect(await tested.offend(caller())).toEqual({
          verdict: "limited",
          limit: 3,
          remaining: 0,
          reset: noonSecond + 60,
          retryAfter: 59,
          window: "minute",
          isLastStrike: true,
        });
        expect((await tested.limiter.limitStatus(caller())).strikes).toBe(0);
        const found = await tested.send(caller(), 100);
        tested.clock.advance(SECOND);
        found.push(...(await tested.send(caller(), 19)));
        expect(found.filter(({ isLastStrike }) => isLastStrike)).toEqual([]);
        expect((await tested.sendOne(caller())).isLastStrike).toBe(true);
      });

      test("are counted per key, the limit per account", async () => {
        await tested.send(caller(), 4);
        tested.clock.advance(SECOND);
        await tested.send(caller(), 19);
        expect((await tested.sendOne(caller({}, "key_2"))).isLastStrike).toBeUndefined();
        expect((await tested.sendOne(caller())).isLastStrike).toBe(true);
      });

      test("a key that obeys Retry-After has none, although others use up the limit", async () => {
        const patient = caller();
        const greedy = caller({}, "key_greedy");
        for (let round = 0; round < 60; round++) {
          await tested.send(greedy, 3);
          const { verdict, retryAfter } = await tested.sendOne(patient);
          expect(verdict).toBe("limited");
          expect((await tested.limiter.limitStatus(patient)).strikes).toBe(0);
          tested.clock.advance(retryAfter * SECOND);
        }
      });

      test("many clients that share a key and obey Retry-After cause none", async () => {
        // Within a second of the first, each is told its own time. In every minute another key is faster.
        const worker = caller({}, "key_workers");
        const greedy = caller({}, "key_greedy");
        let due = Array.from({ length: 80 }, (_, index) => NOON + 300 + index * 12);
        await tested.send(greedy, 3);
        for (let round = 0; round < 3; round++) {
          const next: number[] = [];
          for (const time of due.toSorted((one, other) => one - other)) {
            tested.clock.advance(Math.max(0, time - tested.clock.now()));
            await tested.send(greedy, 3);
            const { verdict, retryAfter } = await tested.sendOne(worker);
            expect(verdict).toBe("limited");
            expect((await tested.limiter.limitStatus(worker)).strikes).toBe(0);
            next.push(tested.clock.now() + retryAfter * SECOND);
          }
          due = next;
        }
      });

      test("after an admitted request, the next 429 starts another second of grace", async () => {
        await tested.send(caller({ perDay: 2 }), 3); // told to wait until midnight
        tested.clock.advance(HOUR);
        const admissions = await tested.send(caller({ perMinute: 10 }), 100); // then gets a larger plan
        expect(verdicts(admissions)).toEqual([...Array(10).fill("admitted"), ...Array(90).fill("limited")]);
      });
    });
  });
}
