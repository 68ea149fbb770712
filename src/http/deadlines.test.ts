import { expect, test } from "bun:test";
import { ManualClock } from "../../test/harness/manual-clock.ts";
import { RESPONSE_TIMEOUT } from "../contract/requests.ts";
import { Deadlines } from "./deadlines.ts";

/** Registers responses that never come. Returns the substitutes received so far. */
function register(deadlines: Deadlines<string>, count = 1): string[] {
  const got: string[] = [];
  for (let index = 0; index < count; index++) {
    void deadlines.register(() => "late").result.then((response) => got.push(response));
  }
  return got;
}

/** Resolves when this turn of the event loop has ended. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a late response is replaced at the deadline, not before", async () => {
  const clock = new ManualClock();
  const deadlines = new Deadlines<string>(clock);
  const got = register(deadlines);
  clock.advance(RESPONSE_TIMEOUT - 1);
  const later = register(deadlines);
  deadlines.sweep();
  await turn();
  expect(got).toEqual([]);
  clock.advance(1);
  deadlines.sweep();
  await turn();
  expect([got, later]).toEqual([["late"], []]);
});

test("a response in time is returned, and a later one is not", async () => {
  const clock = new ManualClock();
  const deadlines = new Deadlines<string>(clock);
  const [punctual, late] = [deadlines.register(() => "late"), deadlines.register(() => "late")];
  deadlines.settle(punctual, "in time");
  clock.advance(RESPONSE_TIMEOUT);
  expect([deadlines.size, late.isOpen]).toEqual([1, true]);
  deadlines.sweep();
  expect([deadlines.size, late.isOpen]).toEqual([0, false]);
  deadlines.settle(late, "in time");
  expect(await Promise.all([punctual.result, late.result])).toEqual(["in time", "late"]);
});

test.each([[[0]], [[2]], [[4]], [[1, 3]], [[3, 1, 2]], [[4, 0, 2, 1, 3]]])(
  "of five responses, all but those in time (%p) are replaced, in order",
  async (inTime) => {
    const clock = new ManualClock();
    const deadlines = new Deadlines<string>(clock);
    const late: number[] = [];
    const indexes = [0, 1, 2, 3, 4];
    const pending = indexes.map((index) => deadlines.register(() => `late ${late.push(index)}`));
    for (const index of inTime) deadlines.settle(pending[index] as (typeof pending)[number], "in time");
    expect(deadlines.size).toBe(5 - inTime.length);
    clock.advance(RESPONSE_TIMEOUT);
    deadlines.sweep();
    expect([late, deadlines.size]).toEqual([indexes.filter((index) => !inTime.includes(index)), 0]);
    deadlines.settle(
      deadlines.register(() => "late"),
      "in time",
    );
    expect(deadlines.size).toBe(0);
  },
);

test("many late responses are replaced in several turns of the event loop", async () => {
  const clock = new ManualClock();
  const deadlines = new Deadlines<string>(clock);
  const got = register(deadlines, 1_000);
  clock.advance(RESPONSE_TIMEOUT);
  deadlines.sweep();
  let turns = 0;
  while (got.length < 1_000) {
    const before = got.length;
    await turn();
    expect(got.length - before).toBeLessThanOrEqual(200); // there may have been two turns
    turns++;
  }
  expect(turns).toBeGreaterThanOrEqual(5);
});
