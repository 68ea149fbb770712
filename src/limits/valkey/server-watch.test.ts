import { expect, test } from "bun:test";
import { ServerWatch } from "./server-watch.ts";
import { Share } from "./share.ts";
import type { ValkeyCounts } from "./valkey-counts.ts";

test("a probe that a stop interrupts does not start the local fallback", async () => {
  const { promise: reply, reject } = Promise.withResolvers<number>();
  const counts: Pick<ValkeyCounts, "reportPresence"> = { reportPresence: () => reply };
  const started: Error[] = [];
  const watch = new ServerWatch(counts as ValkeyCounts, new Share(), {
    isInFallback: () => false,
    oldestCall: () => undefined,
    startFallback: (reason) => started.push(reason),
    endFallback: () => {},
  });
  const probed = watch.probe();
  watch.stop();
  reject(new Error("The connection was closed."));
  await probed;
  expect(started).toEqual([]);
});
