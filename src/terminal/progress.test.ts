import { expect, test } from "bun:test";
import { Progress } from "./progress.ts";

function watched() {
  const shown: string[] = [];
  const clock = { now: 5_000 };
  const progress = new Progress(
    (line) => shown.push(line),
    "animal",
    () => clock.now,
  );
  return { shown, clock, progress };
}

test("progress shows what is done, how fast, and what is left", () => {
  const { shown, clock, progress } = watched();
  progress.report("Reading", 0, 0);
  clock.now += 2_000;
  progress.report("Reading", 500_000, 0.25);
  clock.now += 100;
  progress.report("Reading", 12, undefined);
  clock.now += 7_997_900;
  progress.report("Reading", 1_000_000, 0.5);
  progress.end();
  expect(shown).toEqual([
    "Reading [░░░░░░░░░░░░░░░░░░░░░░░░]   0 % 0 animals",
    "Reading [██████░░░░░░░░░░░░░░░░░░]  25 % 500,000 animals  250,000/s  6 s left",
    "Reading 12 animals  6/s",
    "Reading [████████████░░░░░░░░░░░░]  50 % 1,000,000 animals  125/s  2:13:20 left",
    "",
  ]);
});

test("progress of no work has no bar", () => {
  const { shown, progress } = watched();
  progress.report("Reading", 0, Number.NaN); // 0 / 0
  expect(shown).toEqual(["Reading 0 animals"]);
});

test("progress writes at most ten lines a second", () => {
  const { shown, clock, progress } = watched();
  for (let count = 0; count < 1_000; count++) {
    progress.report("Adding", count, count / 1_000);
    clock.now += 1;
  }
  expect(shown).toHaveLength(10);
});

test("progress shows nothing without a terminal, but measures its duration", () => {
  const clock = { now: 0 };
  const progress = new Progress(undefined, "animal", () => clock.now);
  progress.report("Adding", 1, 0.5);
  progress.end();
  clock.now = 2_500;
  expect(progress.seconds).toBe(2.5);
});
