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
    let under: LimiterUnderTest;
    beforeEach(async () => {
      under = await LimiterUnderTest.start(open);
    });
    afterEach(() => under.close());

    describe("a request over the limit", () => {
      test("returns the exact time until the end of the minute", async () => {
        await under.send(caller(), 3);
        const told: Admission[] = [];
        for (const milliseconds of [0, 1, 998, 1, 29_000, 29_999]) {
          under.clock.advance(milliseconds);
          told.push(await under.sendOne(caller()));
        }
        expect(told.map(({ retryAfter }) => retryAfter)).toEqual([60, 60, 60, 59, 30, 1]);
        expect(new Set(told.map(({ reset }) => reset))).toEqual(new Set([noonSecond + 60]));
        expect(new Set(told.map(({ remaining }) => remaining))).toEqual(new Set([0]));
      });

      test("returns the exact time until the end of the day", async () => {
        await under.send(caller({ perDay: 2 }), 2);
        expect(await under.sendOne(caller({ perDay: 2 }))).toEqual({
          verdict: "limited",
          limit: 2,
          remaining: 0,
          reset: midnightSecond,
          retryAfter: 12 * 3_600,
        });
      });

      test("returns the later end if both windows are used up", async () => {
        const who = caller({ perMinute: 2, perDay: 2 });
        await under.send(who, 2);
        expect(await under.sendOne(who)).toMatchObject({ reset: midnightSecond, retryAfter: 12 * 3_600 });
        under.clock.setWall(midnightSecond * SECOND - 20 * SECOND);
        const other = caller({ perMinute: 2, perDay: 2 }, "key_2", "acc_2");
        await under.send(other, 2);
        expect(await under.sendOne(other)).toMatchObject({ reset: midnightSecond + 40, retryAfter: 60 });
      });

      test("does not count", async () => {
        const who = caller({ perMinute: 2, perDay: 4 });
        await under.send(who, 15);
        under.clock.advance(60_000);
        expect((await under.send(who, 2)).map(({ remaining }) => remaining)).toEqual([1, 0]);
      });

      test("is admitted after the returned time", async () => {
        under.clock.advance(123);
        await under.send(caller(), 3);
        for (const milliseconds of [7, 20_500, 39_492]) {
          under.clock.advance(milliseconds);
          const { retryAfter } = await under.sendOne(caller());
          expect(retryAfter).toBeGreaterThanOrEqual(1);
        }
        under.clock.advance((await under.sendOne(caller())).retryAfter * SECOND);
        expect((await under.sendOne(caller())).verdict).toBe("admitted");
      });
    });

    describe("strikes and bans:", () => {
      test("requests within a second of the first 429 are no strikes", async () => {
        await under.send(caller(), 3);
        await under.send(caller(), 500);
        under.clock.advance(999);
        expect(new Set(verdicts(await under.send(caller(), 500)))).toEqual(new Set(["limited"]));
      });

      test("the 20th strike is a ban", async () => {
        await under.send(caller(), 4);
        under.clock.advance(SECOND);
        const found = verdicts(await under.send(caller(), 20));
        expect(found.slice(0, 19)).toEqual(Array(19).fill("limited"));
        expect(found.at(-1)).toBe("banned");
      });

      test("with a high limit, the strike after half of the limit is a ban", async () => {
        const who = caller({ perMinute: 100 });
        await under.send(who, 101);
        under.clock.advance(SECOND);
        const found = verdicts(await under.send(who, 50));
        expect(found.slice(0, 49)).toEqual(Array(49).fill("limited"));
        expect(found.at(-1)).toBe("banned");
      });

      test("a ban lasts 60 s, whatever is sent during it", async () => {
        expect(await under.offend(caller())).toEqual({
          verdict: "banned",
          limit: 3,
          remaining: 0,
          reset: noonSecond + 61,
          retryAfter: 60,
        });
        under.clock.advance(59_999);
        await under.send(caller(), 100);
        expect(await under.sendOne(caller())).toMatchObject({
          verdict: "banned",
          reset: noonSecond + 61,
          retryAfter: 1,
        });
        under.clock.advance(1);
        expect(verdicts(await under.send(caller(), 3))).toEqual(["admitted", "admitted", "admitted"]);
      });

      test("each further ban lasts twice as long, up to an hour", async () => {
        const lengths: number[] = [];
        for (let ban = 0; ban < 9; ban++) {
          const { retryAfter } = await under.offend(caller());
          lengths.push(retryAfter);
          under.clock.advance(retryAfter * SECOND);
        }
        expect(lengths).toEqual([60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600]);
      });

      test("a ban is forgotten 24 hours after it ended, not earlier", async () => {
        expect((await under.offend(caller())).retryAfter).toBe(60);
        under.clock.advance(60 * SECOND + 24 * HOUR - SECOND - 1); // the offence itself takes a second
        expect((await under.offend(caller())).retryAfter).toBe(120);
        under.clock.advance(120 * SECOND + 24 * HOUR - SECOND);
        expect((await under.offend(caller())).retryAfter).toBe(60);
      });

      test("a ban is per key, the limit per account", async () => {
        await under.offend(caller());
        const second = caller({}, "key_2");
        expect((await under.sendOne(second)).verdict).toBe("limited");
        under.clock.advance(59 * SECOND);
        expect((await under.sendOne(second)).verdict).toBe("admitted");
        expect((await under.sendOne(caller())).verdict).toBe("banned");
        expect(await under.sendOne(second)).toMatchObject({ verdict: "admitted", remaining: 1 });
      });

      test("requests of a banned key do not count against the account", async () => {
        await under.offend(caller());
        under.clock.advance(59 * SECOND);
        await under.send(caller(), 50);
        expect((await under.sendOne(caller({}, "key_2"))).remaining).toBe(2);
      });

      test("a key that obeys Retry-After is never banned, although others use up the limit", async () => {
        const patient = caller();
        const greedy = caller({}, "key_greedy");
        for (let round = 0; round < 60; round++) {
          await under.send(greedy, 3);
          const { verdict, retryAfter } = await under.sendOne(patient);
          expect(verdict).toBe("limited");
          under.clock.advance(retryAfter * SECOND);
        }
      });

      test("many clients that share a key and obey Retry-After cause no ban", async () => {
        // Within a second of the first, each is told its own time. In every minute another key is faster.
        const worker = caller({}, "key_workers");
        const greedy = caller({}, "key_greedy");
        let due = Array.from({ length: 80 }, (_, index) => NOON + 300 + index * 12);
        await under.send(greedy, 3);
        for (let round = 0; round < 3; round++) {
          const next: number[] = [];
          for (const time of due.toSorted((one, other) => one - other)) {
            under.clock.advance(Math.max(0, time - under.clock.now()));
            await under.send(greedy, 3);
            const { verdict, retryAfter } = await under.sendOne(worker);
            expect(verdict).toBe("limited");
            next.push(under.clock.now() + retryAfter * SECOND);
          }
          due = next;
        }
      });

      test("after an admitted request, the next 429 starts another second of grace", async () => {
        await under.send(caller({ perDay: 2 }), 3); // told to wait until midnight
        under.clock.advance(HOUR);
        const admissions = await under.send(caller({ perMinute: 10 }), 100); // then gets a larger plan
        expect(verdicts(admissions)).toEqual([...Array(10).fill("admitted"), ...Array(90).fill("limited")]);
      });
    });
  });
}
