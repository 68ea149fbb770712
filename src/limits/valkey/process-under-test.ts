import type { ManualClock } from "../../../test/harness/manual-clock.ts";
import type { Quota } from "../../contract/quota.ts";
import { systemClock } from "../../timing/clock.ts";
import { addressQuota } from "../address-quota.ts";
import { MemoryLimiter, nothingSaved } from "../memory-limiter.ts";
import { noBackup, type ValkeyBackup } from "./saved-shops.ts";
import { Share } from "./share.ts";
import { Valkey } from "./valkey.ts";
import { ValkeyCounts } from "./valkey-counts.ts";
import { ValkeyLimiter } from "./valkey-limiter.ts";
import { parseValkeyUrl, type ValkeyAddress } from "./valkey-url.ts";

/** The limiter of one of several processes. */
export interface TestProcess {
  readonly limiter: ValkeyLimiter;
  readonly share: Share;
  /** True for each time that it began to decide alone, false for each time that it ended. */
  readonly changes: readonly boolean[];
  readonly close: () => Promise<void>;
}

let places = 0;

/**
 * Opens the limiter of one process. It counts together with those that have the same `place`, by the
 * server's clock, or by the one that is given. `callTimeout` is how long the server may be silent, in
 * milliseconds; without it as long as in the program. `backup` is where Valkey gets back what it loses; nowhere if absent.
 */
export async function openProcess(
  url: string,
  options: { clock?: ManualClock; place?: string; quota?: Quota; callTimeout?: number; backup?: ValkeyBackup } = {},
): Promise<TestProcess> {
  const { clock, place = `test-${++places}:`, quota = addressQuota, backup = noBackup } = options;
  const share = new Share();
  const local = await MemoryLimiter.open(nothingSaved, clock ?? systemClock, share.of(quota));
  const changes: boolean[] = [];
  const counts = new ValkeyCounts(
    await Valkey.connect(parseValkeyUrl(url) as ValkeyAddress, options.callTimeout),
    place,
    clock && (() => clock.now()),
  );
  const changed = (alone: boolean) => void changes.push(alone);
  const callTimeout = options.callTimeout === undefined ? {} : { callTimeout: options.callTimeout };
  const limiter = await ValkeyLimiter.open({
    counts,
    local,
    share,
    addressQuota: quota,
    backup,
    changed,
    ...callTimeout,
  });
  return { limiter, share, changes, close: async () => limiter.close() };
}
