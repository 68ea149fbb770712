import { expect, test } from "bun:test";
import { settlesWhileRunning, settlesWithin } from "./settles-within.ts";

/** Blocks the event loop for longer than the deadline of `waits`. The work ends a few turns later. */
async function afterBlock(waits: typeof settlesWithin): Promise<boolean> {
  const settled = waits(fewTurns(), 100);
  Bun.sleepSync(150);
  return settled;
}

async function fewTurns(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate);
}

test("a blocked event loop does not make work late that ends as soon as the loop runs", async () => {
  expect(await afterBlock(settlesWhileRunning)).toBe(true);
  expect(await afterBlock(settlesWithin)).toBe(false);
});

test.each([settlesWithin, settlesWhileRunning])("%p waits no longer than its deadline", async (waits) => {
  expect(await waits(new Promise(() => {}), 1)).toBe(false);
  expect(await waits(Promise.resolve(), 1)).toBe(true);
  expect(waits(Promise.reject(new Error("full")), 1)).rejects.toThrow("full");
});
