import type { Config } from "../config.ts";
import { addressQuota } from "../contract/caller.ts";
import type { Host } from "../domains/domain.ts";
import type { Limiter } from "../http/interfaces.ts";
import { LimitStore } from "../limits/limits.store.ts";
import { MemoryLimiter, noStorage } from "../limits/memory-limiter.ts";
import { Share } from "../limits/valkey/share.ts";
import { ValkeyCounts } from "../limits/valkey/valkey-counts.ts";
import { ValkeyLimiter } from "../limits/valkey/valkey-limiter.ts";
import { engineOf } from "./store/engines.ts";

/** The limiter of a running service. */
export interface RunningLimiter {
  readonly limiter: Limiter;
  close(): void;
}

const gauges = {
  shops: "Shops whose windows are in memory.",
  addresses: "Addresses whose windows are in memory.",
  keys: "Keys that were limited recently.",
};

/**
 * Opens the limiter that the settings choose: the memory of this process, which is saved in the store, or a Valkey or
 * Redis server that all processes share.
 */
export async function openLimiter(
  config: Config,
  { storage, clock, log, metrics, repeat }: Pick<Host, "storage" | "clock" | "log" | "metrics" | "repeat">,
): Promise<RunningLimiter> {
  const { valkey } = config;
  const share = new Share(); // of each limit, for this process during a local fallback
  const store = new LimitStore(storage);
  const memory =
    valkey === undefined
      ? new MemoryLimiter(store, clock, addressQuota)
      : new MemoryLimiter(noStorage, clock, share.of(addressQuota));
  for (const [kind, meaning] of Object.entries(gauges) as [keyof typeof gauges, string][]) {
    metrics.gauge(`petstore_limiter_${kind}`, meaning, () => memory.size[kind]);
  }
  if (valkey === undefined) {
    // Several processes may serve the store.
    if (!engineOf(config).lock) log.warn("limits_not_shared", { reason: "PETSTORE_VALKEY_URL is not set" });
    repeat({ name: "save_limits", by: "each", run: () => memory.save() });
    return { limiter: memory, close: () => {} };
  }

  // The client takes 20 MB, which a service without Valkey does not need.
  const { Valkey } = await import("../limits/valkey/valkey.ts");
  const limiter = await ValkeyLimiter.open({
    counts: new ValkeyCounts(await Valkey.connect(valkey)),
    local: memory,
    share,
    addressQuota,
    backup: store,
    onFallback: (isActive, reason) => {
      if (isActive) log.warn("limits_not_shared", { reason: reason?.message ?? "" });
      else log.info("limits_shared_again");
    },
  });
  metrics.gauge(
    "petstore_limiter_degraded",
    "1 while this process counts limits alone, because Valkey is unreachable.",
    () => Number(limiter.isInFallback),
  );
  metrics.gauge("petstore_limiter_processes", "Processes that share the counts of limits.", () => share.processes);
  const save = async () => {
    await memory.save();
    await limiter.save();
  };
  repeat({ name: "save_limits", by: "each", run: save });
  return { limiter, close: () => limiter.close() };
}
