import { expect, test } from "bun:test";
import { Metrics } from "./metrics.ts";

test("two metrics with one name are refused", () => {
  const metrics = new Metrics();
  metrics.gauge("petstore_toys", "Toys.", () => 1);
  expect(() => metrics.gauge("petstore_toys", "Other toys.", () => 2)).toThrow("Two metrics are named petstore_toys.");
});
