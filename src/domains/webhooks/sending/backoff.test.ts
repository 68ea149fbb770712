import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { DAY_MS } from "../../../timing/clock.ts";
import { deliveryDelays, isDue, nextDelay, readRetryAfter } from "./backoff.ts";

const failed = { failure: "timed_out" };
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
/** The delays of an event that always fails. */
const delays = (randoms: readonly number[]) => randoms.map((random, index) => nextDelay(index + 1, failed, random));

describe("after a failure", () => {
  test("there are ten deliveries, then none", () => {
    const seconds = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
    expect(deliveryDelays[0]).toBe(0);
    expect(delays(Array<number>(10).fill(0))).toEqual([...seconds.map((second) => second * 1000), undefined]);
  });

  test("a delivery is made after its delay, and at most a fifth later", () => {
    const attempt = fc.integer({ min: 1, max: 9 });
    const property = fc.property(attempt, chance, (number, random) => {
      const delay = nextDelay(number, failed, random) as number;
      const planned = deliveryDelays[number] as number;
      return delay >= planned && delay <= planned * 1.2;
    });
    fc.assert(property);
  });

  test("deliveries that failed together are spread", () => {
    const property = fc.property(chance, chance, (one, other) => {
      fc.pre(Math.abs(one - other) > 0.001);
      return delays([one])[0] !== delays([other])[0];
    });
    fc.assert(property);
  });

  test("all deliveries are made before an endpoint is disabled after five days", () => {
    const property = fc.property(fc.array(chance, { minLength: 9, maxLength: 9 }), (randoms) => {
      const sum = delays(randoms).reduce<number>((total, delay) => total + Number(delay), 0);
      return sum > 3 * DAY_MS && sum < 5 * DAY_MS;
    });
    fc.assert(property);
  });

  test("no delivery is made before the receiver's Retry-After", () => {
    const retryAfter = fc.integer({ min: 0, max: DAY_MS });
    const property = fc.property(fc.integer({ min: 1, max: 9 }), retryAfter, chance, (number, asked, random) => {
      const delay = nextDelay(number, { failure: "error_status", retryAfter: asked }, random) as number;
      return delay >= Math.max(asked, deliveryDelays[number] as number) && !isDue(delay, 0);
    });
    fc.assert(property);
  });
});

test("nothing is done after a success", () => {
  expect(nextDelay(1, { failure: undefined }, 0.5)).toBeUndefined();
});

const headersOf = (text: string | null) => ({ get: (name: string) => (name === "retry-after" ? text : null) });

describe("Retry-After", () => {
  const now = Date.UTC(2026, 10, 21, 12);

  test.each([
    ["0", undefined],
    ["120", 120_000],
    ["86400", DAY_MS],
    ["86401", DAY_MS],
    ["9".repeat(400), DAY_MS],
    ["Sat, 21 Nov 2026 12:02:00 GMT", 120_000],
    ["Sat, 21 Nov 2026 11:00:00 GMT", undefined],
    ["Sun, 21 Nov 2027 12:00:00 GMT", DAY_MS],
    ["Sat, 41 Nov 2026 12:02:00 GMT", undefined],
    ["Saturday, 21-Nov-26 12:02:00 GMT", 120_000],
    ["Sat Nov 21 12:02:00 2026", 120_000],
    ["Sun Nov  1 12:02:00 2026", undefined],
    ["2026-11-21T12:02:00Z", undefined],
    ["-1", undefined],
    ["1.5", 2_000],
    ["5, 6", undefined],
    ["soon", undefined],
    ["", undefined],
    [null, undefined],
  ])("%p is %p milliseconds", (text, milliseconds) => {
    expect(readRetryAfter(headersOf(text), now)).toBe(milliseconds as number);
  });

  test("is compared with the receiver's own clock", () => {
    const headers = { "Retry-After": "Sat, 21 Nov 2026 12:02:00 GMT", Date: "Sat, 21 Nov 2026 12:01:30 GMT" };
    expect(readRetryAfter(new Headers(headers), now)).toBe(30_000);
  });

  test("is at most a day, or nothing, for any text", () => {
    const property = fc.property(fc.string(), (text) => {
      const read = readRetryAfter(headersOf(text), now);
      return read === undefined || (read >= 0 && read <= DAY_MS);
    });
    fc.assert(property);
  });
});
