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

/** The part of the suite for limiters that tests requests over the limit, and bans. */
export function keyBansConformance(open: OpenLimiter): void {
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

    describe("strikes and bans:", () => {
      test("requests within a second of the first 429 are no strikes", async () => {
        await tested.send(caller(), 3);
        await tested.send(caller(), 500);
        tested.clock.advance(999);
        expect(new Set(verdicts(await tested.send(caller(), 500)))).toEqual(new Set(["limited"]));
      });

      test("the 20th strike is a ban", async () => {
        await tested.send(caller(), 4);
        tested.clock.advance(SECOND);
        const found = verdicts(await tested.send(caller(), 20));
        expect(found.slice(0, 19)).toEqual(Array(19).fill("limited"));
        expect(found.at(-1)).toBe("banned");
      });

      test("with a high limit, the strike after half of the limit is a ban", async () => {
        const who = caller({ perMinute: 100 });
        await tested.send(who, 101);
        tested.clock.advance(SECOND);
        const found = verdicts(await tested.send(who, 50));
        expect(found.slice(0, 49)).toEqual(Array(49).fill("limited"));
        expect(found.at(-1)).toBe("banned");
      });

      test("a ban lasts 60 s, whatever is sent during it", async () => {
        expect(await tested.offend(caller())).toEqual({
          verdict: "banned",
          limit: 3,
          remaining: 0,
          reset: noonSecond + 61,
          retryAfter: 60,
        });
        tested.clock.advance(59_999);
        await tested.send(caller(), 100);
        expect(await tested.sendOne(caller())).toMatchObject({
          verdict: "banned",
          reset: noonSecond + 61,
          retryAfter: 1,
        });
        tested.clock.advance(1);
        expect(verdicts(await tested.send(caller(), 3))).toEqual(["admitted", "admitted", "admitted"]);
      });

      test("each further ban lasts twice as long, up to an hour", async () => {
        const lengths: number[] = [];
        for (let ban = 0; ban < 9; ban++) {
          const { retryAfter } = await tested.offend(caller());
          lengths.push(retryAfter);
          tested.clock.advance(retryAfter * SECOND);
        }
        expect(lengths).toEqual([60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600]);
      });

      test("a ban is forgotten 24 hours after it ended, not earlier", async () => {
        expect((await tested.offend(caller())).retryAfter).toBe(60);
        tested.clock.advance(60 * SECOND + 24 * HOUR - SECOND - 1); // the offence itself takes a second
        expect((await tested.offend(caller())).retryAfter).toBe(120);
        tested.clock.advance(120 * SECOND + 24 * HOUR - SECOND);
        expect((await tested.offend(caller())).retryAfter).toBe(60);
      });

      test("a ban is per key, the limit per account", async () => {
        await tested.offend(caller());
        const second = caller({}, "key_2");
        expect((await tested.sendOne(second)).verdict).toBe("limited");
        tested.clock.advance(59 * SECOND);
        expect((await tested.sendOne(second)).verdict).toBe("admitted");
        expect((await tested.sendOne(caller())).verdict).toBe("banned");
        expect(await tested.sendOne(second)).toMatchObject({ verdict: "admitted", remaining: 1 });
      });

      test("requests of a banned key do not count against the account", async () => {
        await tested.offend(caller());
        tested.clock.advance(59 * SECOND);
        await tested.send(caller(), 50);
        expect((await tested.sendOne(caller({}, "key_2"))).remaining).toBe(2);
      });

      test("a key that obeys Retry-After is never banned, although others use up the limit", async () => {
        const patient = caller();
        const greedy = caller({}, "key_greedy");
        for (let round = 0; round < 60; round++) {
          await tested.send(greedy, 3);
          const { verdict, retryAfter } = await tested.sendOne(patient);
          expect(verdict).toBe("limited");
          tested.clock.advance(retryAfter * SECOND);
        }
      });

      test("many clients that share a key and obey Retry-After cause no ban", async () => {
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
