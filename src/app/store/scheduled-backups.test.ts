import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "../../../test/harness/manual-clock.ts";
import type { BackgroundTask } from "../../domains/domain.ts";
import { storeMark } from "../../storage/generation.ts";
import { Log } from "../../telemetry/log.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { HOUR_MS, MINUTE_MS } from "../../timing/clock.ts";
import { backupName } from "./backup-folder.ts";
import { scheduleBackups } from "./scheduled-backups.ts";

let folder: string;
let clock: ManualClock;
let metrics: Metrics;
let taken: number;
/** How a backup ends that is not written; undefined for one that is. */
let failure: ((stop: AbortSignal) => Promise<never>) | undefined;
/** How the process that takes a backup fails after it was written; undefined if it does not. */
let failureAfterwards: (() => Promise<never>) | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "petstore-scheduled-backups-"));
  [clock, metrics, taken, failure, failureAfterwards] = [new ManualClock(), new Metrics(), 0, undefined, undefined];
});
afterEach(() => rmSync(folder, { recursive: true }));

const generation = "that of the store";
const write = (at: number) => writeFileSync(join(folder, backupName(new Date(at), storeMark(generation))), "A backup.");

/** A schedule with a backup every hour. `round` resolves when its backup is taken. */
function schedule() {
  let task: BackgroundTask | undefined;
  const repeat = (given: BackgroundTask) => void (task = given);
  const host = { generation, clock, metrics, repeat, log: new Log("info", async () => {}) };
  scheduleBackups({ every: HOUR_MS, folder, keep: 7 }, host, async (stop) => {
    taken++;
    await failure?.(stop);
    write(clock.now());
    await failureAfterwards?.();
  });
  const round = async () => {
    await task?.run();
    await new Promise(setImmediate);
  };
  return { round, finish: () => task?.finish?.() };
}

test("takes a backup when the newest is an hour old, and no other", async () => {
  const { round } = schedule();
  for (let count = 0; count < 3; count++) await round();
  expect(taken).toBe(1);
  clock.advance(HOUR_MS - 1);
  await round();
  expect(taken).toBe(1);
  clock.advance(1);
  await round();
  expect(taken).toBe(2);
});

test("continues every hour after the clock was set back", async () => {
  const { round } = schedule();
  await round();
  clock.setWall(clock.now() - 24 * HOUR_MS);
  for (let count = 0; count < 3; count++) await round();
  expect(taken).toBe(2);
  expect(metrics.expose()).toContain(`petstore_backup_newest_timestamp_seconds ${clock.now() / 1000}\n`);
  clock.advance(HOUR_MS);
  for (let count = 0; count < 3; count++) await round();
  expect(taken).toBe(3);
});

test("waits a minute after a failed backup", async () => {
  failure = () => Promise.reject(new Error("The disk is full."));
  const { round } = schedule();
  for (let count = 0; count < 3; count++) await round();
  expect(taken).toBe(1);
  expect(metrics.expose()).toContain("petstore_backup_failures_total 1\n");
  clock.advance(MINUTE_MS - 1);
  await round();
  expect(taken).toBe(1);
  failure = undefined;
  clock.advance(1);
  for (let count = 0; count < 3; count++) await round();
  expect(taken).toBe(2);
});

test("does not repeat a backup that was written before its process failed", async () => {
  failureAfterwards = () => Promise.reject(new Error("An old backup cannot be deleted."));
  const { round } = schedule();
  await round();
  clock.advance(MINUTE_MS);
  await round();
  expect(taken).toBe(1);
  expect(metrics.expose()).toContain(`petstore_backup_newest_timestamp_seconds ${(clock.now() - MINUTE_MS) / 1000}\n`);
  expect(metrics.expose()).toContain("petstore_backup_failures_total 1\n");
});

test("tries again after a failed backup although the clock was set back", async () => {
  failure = () => Promise.reject(new Error("The disk is full."));
  const { round } = schedule();
  await round();
  failure = undefined;
  clock.setWall(clock.now() - 24 * HOUR_MS);
  await round();
  expect(taken).toBe(2);
});

test("ends a backup in progress when the service stops, which is no failure", async () => {
  failure = (stop) => new Promise((_, fail) => stop.addEventListener("abort", () => fail(stop.reason)));
  const { round, finish } = schedule();
  await round();
  await finish();
  expect([taken, metrics.expose()]).toEqual([1, expect.stringContaining("petstore_backup_failures_total 0\n")]);
});
