import { expect, test } from "bun:test";
import { failureOf } from "./failure-of.ts";
import { eventually } from "./program.ts";

test("a result that never becomes the expected one is reported after the limit", async () => {
  let calls = 0;
  const failed = await failureOf(
    eventually(
      () => ({ calls: ++calls }),
      () => false,
      20,
    ),
  );
  expect(calls).toBeGreaterThan(1);
  expect(failed?.message).toBe(`After 0.02 s, the result was still { calls: ${calls} }.`);
});
