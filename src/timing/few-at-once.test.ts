import { expect, test } from "bun:test";
import { fewAtOnce } from "./few-at-once.ts";

test("each item is worked on, at most two at once, and the first error is thrown at the end", async () => {
  const events: string[] = [];
  const work = async (item: number) => {
    events.push(`+${item}`);
    await new Promise(setImmediate);
    events.push(`-${item}`);
    if (item > 1) throw new Error(`failed: ${item}`);
  };
  const error = await fewAtOnce(2, [1, 2, 3, 4], work).catch((reason: unknown) => reason);
  expect(error).toEqual(new Error("failed: 2"));
  expect(events).toEqual(["+1", "+2", "-1", "+3", "-2", "+4", "-3", "-4"]);
});
