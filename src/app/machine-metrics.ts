import { statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../domains/domain.ts";
import { ExpiryClock } from "../timing/clock.ts";
import { STORE_FILE } from "./store/engines.ts";

/** How often the delay of the event loop is measured, and how long a measured one counts at least, in milliseconds. */
const [SAMPLE, KEPT] = [100, 30_000];

type Parts = Pick<Host, "clock" | "log" | "metrics" | "repeat">;

/** The time by which old data is deleted. A jump of the wall clock is logged, even if nothing asks for the time. */
export function watchClock({ clock, log, metrics, repeat }: Parts): ExpiryClock {
  const expiry = new ExpiryClock(clock, (ahead) => log.warn("clock_jumped", { seconds: Math.round(ahead / 1000) }));
  repeat({ name: "watch_clock", by: "each", run: async () => void expiry.now() });
  metrics.gauge(
    "petstore_clock_ahead_seconds",
    "How far the wall clock has been set ahead since the start of the process.",
    () => Math.round(expiry.ahead / 1000),
  );
  return expiry;
}

/** Measures how late timers are, because requests wait as long. */
export function watchEventLoop({ metrics, repeat }: Parts): void {
  let [longest, longestBefore, rotatedAt] = [0, 0, performance.now()];
  let sampledAt = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - rotatedAt >= KEPT) [longestBefore, longest, rotatedAt] = [longest, 0, now];
    longest = Math.max(longest, now - sampledAt - SAMPLE);
    sampledAt = now;
  }, SAMPLE).unref();
  metrics.gauge(
    "petstore_event_loop_delay_seconds",
    "The longest time in the last 30 to 60 seconds for which the process was busy or not running.",
    () => Math.max(longest, longestBefore) / 1000,
  );
  repeat({ name: "watch_event_loop", by: "each", run: async () => {}, finish: async () => clearInterval(timer) });
}

/** The room of the embedded store. */
export function watchDisk({ metrics }: Parts, dataFolder: string): void {
  /** A file system that does not respond must not hide the other metrics. */
  const gauge = (name: string, help: string, read: () => number) =>
    metrics.gauge(name, help, () => {
      try {
        return read();
      } catch {
        return Number.NaN;
      }
    });
  gauge("petstore_store_bytes", "Size of the embedded store, without its write-ahead log.", () => {
    return statSync(join(dataFolder, STORE_FILE)).size;
  });
  gauge("petstore_store_log_bytes", "Size of its write-ahead log, which grows during a long read.", () => {
    return statSync(join(dataFolder, `${STORE_FILE}-wal`)).size;
  });
  gauge("petstore_disk_free_bytes", "Space that the service can still use on the disk of the embedded store.", () => {
    const { bavail, bsize } = statfsSync(dataFolder);
    return bavail * bsize;
  });
  gauge("petstore_disk_bytes", "Size of that disk.", () => {
    const { blocks, bsize } = statfsSync(dataFolder);
    return blocks * bsize;
  });
}
