import { expect, test } from "bun:test";
import { nextTurn } from "./turns.ts";

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
