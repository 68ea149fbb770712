import { expect, test } from "bun:test";
import { HEARTBEAT_INTERVAL, HeartbeatMonitor, processorWait } from "./heartbeat-monitor.ts";

const LIMIT = 2_500;

/** Checks this many times. Returns the time until the process counted as hanging; undefined if it never did. */
function checks(monitor: HeartbeatMonitor, from: number, count: number, interval = HEARTBEAT_INTERVAL, share = 0) {
  for (let check = 1; check <= count; check++) {
    const now = from + check * interval;
    if (monitor.check(now, now * share)) return now - from;
  }
  return undefined;
}

test("a process that is silent for the limit counts as hanging", () => {
  expect(checks(new HeartbeatMonitor(LIMIT, 0), 0, 100)).toBe(LIMIT);
});

test("a process with one heartbeat a second does not count as hanging", () => {
  const monitor = new HeartbeatMonitor(LIMIT, 0);
  for (let second = 0; second < 100; second++) {
    expect(checks(monitor, second * 1_000, 4)).toBeUndefined();
    monitor.heard();
  }
});

test("the time before a late check is ignored, and later checks on time count", () => {
  const monitor = new HeartbeatMonitor(LIMIT, 0);
  expect(monitor.check(3_600_000, 0)).toBe(false); // the machine was asleep for an hour
  expect(checks(monitor, 3_600_000, 100, 2 * HEARTBEAT_INTERVAL)).toBeUndefined();
  expect(checks(monitor, 3_650_000, 1)).toBeUndefined();
  expect(checks(monitor, 3_650_000 + HEARTBEAT_INTERVAL, 100)).toBe(LIMIT - HEARTBEAT_INTERVAL);
});

test("time in which the process waits for a processor does not count as silence", () => {
  expect(checks(new HeartbeatMonitor(LIMIT, 0), 0, 100, HEARTBEAT_INTERVAL, 1)).toBeUndefined();
  expect(checks(new HeartbeatMonitor(LIMIT, 0), 0, 100, HEARTBEAT_INTERVAL, 0.75)).toBe(4 * LIMIT);
});

test("a wait for a processor that cannot be read counts as none since the previous check", () => {
  const monitor = new HeartbeatMonitor(LIMIT, 0);
  expect(monitor.check(HEARTBEAT_INTERVAL, 60_000)).toBe(false);
  expect(monitor.check(2 * HEARTBEAT_INTERVAL, processorWait(0))).toBe(false);
  expect(monitor.check(3 * HEARTBEAT_INTERVAL, 60_000)).toBe(false);
});

test("a new limit applies from then on", () => {
  const monitor = new HeartbeatMonitor(60_000, 0);
  expect(checks(monitor, 0, 20)).toBeUndefined();
  monitor.limit = LIMIT;
  expect(checks(monitor, 5_000, 100)).toBe(LIMIT);
});
