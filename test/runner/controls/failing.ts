// Its tests end in each way that a test can end.
import { expect, test } from "bun:test";

test("passes", () => {});

test.skip("is skipped", () => {});

test("fails <here>", () => {
  expect(1).toBe(2);
});
