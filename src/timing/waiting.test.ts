import { expect, test } from "bun:test";
import { nextTurn, Pause, settlesWhileRunning, settlesWithin } from "./waiting.ts";

test("of several long works, one does one part in each turn of the event loop", async () => {
  const parts: string[] = [];
  const work = async (name: string) => {
    for (let part = 1; part <= 2; part++) {
      await nextTurn();
      parts.push(`${name}${part}`);
    }
  };
  const all = Promise.all(["a", "b", "c"].map(work));
  const counts: number[] = [];
  while (parts.length < 6) {
    await new Promise(setImmediate);
    counts.push(parts.length);
  }
  await all;
  expect(parts).toEqual(["a1", "b1", "c1", "a2", "b2", "c2"]);
  expect(counts.every((count, turn) => count <= turn + 1)).toBe(true);
});

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
