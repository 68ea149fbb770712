import { expect, test } from "bun:test";
import { openGate } from "../src/gate.ts";

test("a gate is idle once nothing is in flight and its limits are old", async () => {
  let now = 0;
  const gate = openGate({ now: () => now, after: () => () => {} }, "");
  const { promise, resolve } = Promise.withResolvers<void>();
  const call = gate("getShop", 1e6, new AbortController().signal, async () => {
    await promise;
    return { info: undefined as never, body: {} };
  });
  now = 100_000;
  expect(gate.isIdle()).toBe(false); // it waits for a response
  resolve();
  await call;
  expect(gate.isIdle()).toBe(true);
  await gate("getShop", 1e6, new AbortController().signal, async () => ({ info: undefined as never, body: {} }));
  expect(gate.isIdle()).toBe(false);
  now += 60_001;
  expect(gate.isIdle()).toBe(true);
});
