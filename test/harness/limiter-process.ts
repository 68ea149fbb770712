import { addressQuota, type Quota } from "../../src/contract/caller.ts";
import { MemoryLimiter, noStorage } from "../../src/limits/memory-limiter.ts";
import { noBackup, type ValkeyBackup } from "../../src/limits/valkey/last-known-limits.ts";
import { Share } from "../../src/limits/valkey/share.ts";
import { Valkey } from "../../src/limits/valkey/valkey.ts";
import { ValkeyCounts } from "../../src/limits/valkey/valkey-counts.ts";
import { ValkeyLimiter } from "../../src/limits/valkey/valkey-limiter.ts";
import { parseValkeyUrl, type ValkeyAddress } from "../../src/limits/valkey/valkey-url.ts";
import { systemClock } from "../../src/timing/clock.ts";
import type { ManualClock } from "./manual-clock.ts";

/** The limiter of one of several processes. */
export interface TestProcess {
  readonly limiter: ValkeyLimiter;
  readonly share: Share;
  /** True for each start of the local fallback, false for each end. */
  readonly changes: readonly boolean[];
  readonly close: () => Promise<void>;
}

let prefixes = 0;

/**
 * Opens the limiter of one process. It shares its counts with the limiters of the same `prefix`. It uses `clock`, or the
 * server's clock by default. `callTimeout` is how long the server may be silent, in milliseconds; the default is that
 * of production. `backup` restores counts that Valkey loses; by default there is none.
 */
export async function openProcess(
  url: string,
  options: { clock?: ManualClock; prefix?: string; quota?: Quota; callTimeout?: number; backup?: ValkeyBackup } = {},
): Promise<TestProcess> {
  const { clock, prefix = `test-${++prefixes}:`, quota = addressQuota, backup = noBackup } = options;
  const share = new Share();
  const local = new MemoryLimiter(noStorage, clock ?? systemClock, share.of(quota));
  const changes: boolean[] = [];
  const counts = new ValkeyCounts(
    await Valkey.connect(parseValkeyUrl(url) as ValkeyAddress, { connect: options.callTimeout }),
    prefix,
    clock && (() => clock.now()),
  );
  const onFallback = (isActive: boolean) => void changes.push(isActive);
  const callTimeout = options.callTimeout === undefined ? {} : { callTimeout: options.callTimeout };
  const limiter = await ValkeyLimiter.open({
    counts,
    local,
    share,
    addressQuota: quota,
    backup,
    onFallback,
    ...callTimeout,
  });
  return { limiter, share, changes, close: async () => limiter.close() };
}
