import { expect, test } from "bun:test";
import { ManualClock, NOON } from "../../test/harness/manual-clock.ts";
import { DAY_MS, ExpiryClock, HOUR_MS } from "./clock.ts";

test("follows a wall clock that is corrected or set back, and none that is set far ahead; each jump is told once", () => {
  const clock = new ManualClock();
  const jumps: number[] = [];
  const expiry = new ExpiryClock(clock, (ahead) => jumps.push(ahead));
  const timeAt = (wall: number) => {
    clock.setWall(wall);
    return expiry.now() - NOON;
  };
  expect(timeAt(NOON + HOUR_MS)).toBe(HOUR_MS);
  expect(timeAt(NOON + 40 * DAY_MS)).toBe(0);
  clock.advance(DAY_MS);
  expect([expiry.now(), expiry.ahead]).toEqual([NOON + DAY_MS, 40 * DAY_MS]);
  expect(jumps).toEqual([40 * DAY_MS]);
  expect(timeAt(NOON + DAY_MS)).toBe(DAY_MS);
  expect(timeAt(NOON - DAY_MS)).toBe(-DAY_MS); // less is deleted
  expect(jumps).toEqual([40 * DAY_MS, -2 * DAY_MS]);
});
