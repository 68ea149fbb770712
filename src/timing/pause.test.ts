import { expect, test } from "bun:test";
import { Pause } from "./pause.ts";

test("a pause is over after its length", () => {
  const pause = new Pause(100);
  expect(pause.isOver(0)).toBe(true);
  pause.start(1_000);
  expect([1_000, 1_099, 1_100].map((now) => pause.isOver(now))).toEqual([false, false, true]);
});

test("a pause is over if the clock was set back by its length", () => {
  const pause = new Pause(100);
  pause.start(1_000);
  expect([901, 900].map((now) => pause.isOver(now))).toEqual([false, true]);
});
