import { WindowLimiter } from "../../src/limits/limiter.ts";
import { MemoryCounts } from "../../src/limits/memory-counts.ts";
import { commandsTo } from "../../src/limits/valkey/commands.ts";
import { SharedCounts } from "../../src/limits/valkey/shared-counts.ts";
import { Valkey } from "../../src/limits/valkey/valkey.ts";
import { parseValkeyUrl, type ValkeyAddress } from "../../src/limits/valkey/valkey-url.ts";
import { systemClock } from "../../src/timing/clock.ts";
import type { ManualClock } from "./manual-clock.ts";

/** The limiter of one of several processes. */
export interface TestProcess {
  readonly limiter: WindowLimiter;
  readonly counts: SharedCounts;
  /** True for each time that it began to count alone, false for each end. */
  readonly changes: readonly boolean[];
  readonly close: () => Promise<void>;
}

let prefixes = 0;

/**
 * Opens the limiter of one process. It shares its counts with the limiters of the same `prefix`. It uses `clock`, or the
 * server's clock by default. `callTimeout` is how long the server may be silent, in milliseconds; the default is that
 * of production.
 */
export async function openProcess(
  url: string,
  options: { clock?: ManualClock; prefix?: string; callTimeout?: number } = {},
): Promise<TestProcess> {
  const { clock, prefix = `test-${++prefixes}:`, callTimeout } = options;
  const changes: boolean[] = [];
  const valkey = await Valkey.connect(parseValkeyUrl(url) as ValkeyAddress, callTimeout);
  const counts = await SharedCounts.open({
    commands: commandsTo(valkey, prefix, clock && (() => clock.now())),
    local: new MemoryCounts(clock ?? systemClock),
    onAlone: (isAlone) => void changes.push(isAlone),
    ...(callTimeout === undefined ? {} : { callTimeout }),
  });
  return { limiter: new WindowLimiter(counts), counts, changes, close: async () => counts.close() };
}
