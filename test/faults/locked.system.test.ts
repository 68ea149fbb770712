// Another process holds the write lock of the store.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { stopwatch } from "../harness/cpu-time.ts";
import { StoreUnderFault, unavailable } from "./store-under-fault.ts";

/** How long a write waits for the lock, and what a busy machine may add to it, in milliseconds. */
const DEADLINE = { from: 5_000, to: 9_000 };

test("a locked store can be read, is written once unlocked, and rejects writes that waited too long", async () => {
  await using store = await StoreUnderFault.start();
  const other = new Database(store.file);
  other.run("BEGIN IMMEDIATE");
  const started = performance.now();
  const elapsed = stopwatch(store.program.child.pid);
  const refused = store.addAll(50);
  await store.ready("503 storage slow");
  expect(await store.read()).toBe(200);
  expect(new Set(await refused)).toEqual(new Set([unavailable]));
  expect(performance.now() - started).toBeGreaterThanOrEqual(DEADLINE.from);
  expect(elapsed()).toBeLessThan(DEADLINE.to);
  expect(await store.reason()).toBe("database is locked");
  expect(store.logged().length).toBeLessThan(20);

  const waiting = store.addAll(50);
  expect(await store.read()).toBe(200);
  other.run("ROLLBACK");
  other.close();
  expect(new Set(await waiting)).toEqual(new Set([201])); // nobody needs to try again
  await store.ready("200 ready");
  await store.program.until(() => store.program.output.includes('"event":"recovered"'));
  const lines = store.program.output.trim().split("\n");
  expect(lines.findLastIndex((line) => line.includes('"level":"error"'))).toBeLessThan(
    lines.findIndex((line) => line.includes('"event":"recovered"')),
  );
  expect(await store.program.end()).toBe(0);
  expect(store.loggedFailures()).toBe(store.failures);
  expect(store.names()).toHaveLength(1 + 50);
});
