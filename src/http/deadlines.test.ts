import { expect, test } from "bun:test";
import { ManualClock } from "../../test/harness/manual-clock.ts";
import { Deadlines, REQUEST_DEADLINE } from "./deadlines.ts";

/** Answers that never come, entered now. */
function enter(deadlines: Deadlines<string>, count = 1): string[] {
  const got: string[] = [];
  for (let index = 0; index < count; index++) {
    void deadlines.limit(new Promise(() => {}), () => "late").then((answer) => got.push(answer));
  }
  return got;
}

/** Resolves when this turn of the event loop has ended. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("an answer that is late has its substitute at the deadline, not before", async () => {
  const clock = new ManualClock();
  const deadlines = new Deadlines<string>(clock);
  const got = enter(deadlines);
  clock.advance(REQUEST_DEADLINE - 1);
  const later = enter(deadlines);
  deadlines.look();
  await turn();
  expect(got).toEqual([]);
  clock.advance(1);
  deadlines.look();
  await turn();
  expect([got, later]).toEqual([["late"], []]);
});

test("an answer that comes in time is the answer", async () => {
  const clock = new ManualClock();
  const deadlines = new Deadlines<string>(clock);
  let expired = 0;
  const { promise, resolve } = Promise.withResolvers<string>();
  const answer = deadlines.limit(promise, () => `late ${++expired}`);
  resolve("in time");
  expect(await answer).toBe("in time");
  clock.advance(REQUEST_DEADLINE);
  deadlines.look();
  expect(expired).toBe(0);
});

test("many that are late together are answered in several turns of the event loop", async () => {
  const clock = new ManualClock();
  const deadlines = new Deadlines<string>(clock);
  const got = enter(deadlines, 1_000);
  clock.advance(REQUEST_DEADLINE);
  deadlines.look();
  let turns = 0;
  while (got.length < 1_000) {
    const before = got.length;
    await turn();
    expect(got.length - before).toBeLessThanOrEqual(200); // the loop may have gone round twice
    turns++;
  }
  expect(turns).toBeGreaterThanOrEqual(5);
});
