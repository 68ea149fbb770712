import { expect, test } from "bun:test";
import { ManualClock } from "../../test/harness/manual-clock.ts";
import { AbuseLog } from "./abuse-log.ts";
import { Log } from "./log.ts";
import { Metrics } from "./metrics.ts";

test("invalid keys from any number of addresses use bounded memory, and few lines a minute", async () => {
  const clock = new ManualClock();
  const lines: string[] = [];
  const log = new Log("info", async (text) => void lines.push(...text.trimEnd().split("\n")));
  const metrics = new Metrics();
  const abuse = new AbuseLog({ clock, log, metrics, showsAddresses: true });
  const attack = () => {
    for (let address = 0; address < 50_000; address++) {
      for (let count = 0; count < 12; count++) abuse.invalidKey(`192.0.2.${address}`);
    }
  };
  attack();
  Bun.gc(true);
  const before = process.memoryUsage().heapUsed;
  for (let minute = 0; minute < 5; minute++) {
    clock.advance(60_000);
    abuse.logEnded();
    attack();
  }
  Bun.gc(true);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(8 * 1024 * 1024);
  await log.close();
  const told = lines.map((line) => JSON.parse(line));
  expect(told).toHaveLength(5 * 21);
  const others = told.flatMap(({ addresses = [] }) => addresses); // of the addresses that are counted separately
  expect(others).toEqual(Array(5).fill(10_000 - 20));
  expect(told.reduce((sum, { count }) => sum + count, 0)).toBe(5 * 50_000 * 12);
  expect(metrics.expose()).toContain(`\npetstore_invalid_keys_total ${6 * 50_000 * 12}\n`);
});
