import type { ManualClock } from "../../../test/harness/manual-clock.ts";
import type { Quota } from "../../contract/quota.ts";
import { systemClock } from "../../timing/clock.ts";
import { addressQuota } from "../address-quota.ts";
import { MemoryLimiter, noStorage } from "../memory-limiter.ts";
import { noBackup, type ValkeyBackup } from "./last-known-limits.ts";
import { Share } from "./share.ts";
import { Valkey } from "./valkey.ts";
import { ValkeyCounts } from "./valkey-counts.ts";
import { ValkeyLimiter } from "./valkey-limiter.ts";
import { parseValkeyUrl, type ValkeyAddress } from "./valkey-url.ts";

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
  const local = await MemoryLimiter.open(noStorage, clock ?? systemClock, share.of(quota));
  const changes: boolean[] = [];
  const counts = new ValkeyCounts(
    await Valkey.connect(parseValkeyUrl(url) as ValkeyAddress, options.callTimeout),
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
