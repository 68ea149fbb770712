import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { PeriodicWork } from "./periodic-work.ts";
import { Log } from "./telemetry/log.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test("rounds are so frequent that one ends in every second, also if it begins late", async () => {
  let rounds = 0;
  const work = new PeriodicWork(new Log("silent"), [{ name: "count", run: async () => void rounds++ }]);
  jest.advanceTimersByTime(750);
  expect(rounds).toBe(1);
  await work.stop();
  expect(rounds).toBe(2); // the last round, which stopping waits for
});
