import type { Config } from "../config.ts";
import { addressQuota } from "../contract/caller.ts";
import type { Host } from "../domains/domain.ts";
import type { Limiter } from "../http/interfaces.ts";
import { LiftedBans } from "../limits/lifted-bans.store.ts";
import { LimitStore } from "../limits/limits.store.ts";
import { MemoryLimiter, noStorage } from "../limits/memory-limiter.ts";
import { Share } from "../limits/valkey/share.ts";
import type { ValkeyTimeouts } from "../limits/valkey/valkey.ts";
import { ValkeyCounts } from "../limits/valkey/valkey-counts.ts";
import { ValkeyLimiter } from "../limits/valkey/valkey-limiter.ts";
import type { ValkeyAddress } from "../limits/valkey/valkey-url.ts";
import { engineOf } from "./store/engines.ts";

/** The limiter of a running service. */
export interface RunningLimiter {
  readonly limiter: Limiter;
  /** Calls back with each key whose ban was lifted by a command. */
  onLifted(listener: (keyId: string) => void): void;
  close(): void;
}

const gauges = {
  shops: "Shops whose windows are in memory.",
  addresses: "Addresses whose windows are in memory.",
  keys: "Keys that were limited recently or are banned.",
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
  const listeners: ((keyId: string) => void)[] = [];
  const onLifted = (listener: (keyId: string) => void) => void listeners.push(listener);
  const lifted = await LiftedBans.open(storage, (keyId) => listeners.forEach((listener) => listener(keyId)));
  repeat({ name: "notice_lifted_bans", by: "each", run: () => lifted.refresh() });
  const memory =
    valkey === undefined
      ? await MemoryLimiter.open(store, clock, addressQuota)
      : // Only the bans are read from the store, so that a process that starts while Valkey is unreachable knows them.
        await MemoryLimiter.open({ ...noStorage, bans: (now) => store.bans(now) }, clock, share.of(addressQuota));
  onLifted((keyId) => memory.forgetBan(keyId));
  for (const [kind, meaning] of Object.entries(gauges) as [keyof typeof gauges, string][]) {
    metrics.gauge(`petstore_limiter_${kind}`, meaning, () => memory.size[kind]);
  }
  if (valkey === undefined) {
    // Several processes may serve the store.
    if (!engineOf(config).lock) log.warn("limits_not_shared", { reason: "PETSTORE_VALKEY_URL is not set" });
    repeat({ name: "save_limits", by: "each", run: () => memory.save() });
    return { limiter: memory, onLifted, close: () => {} };
  }

  const limiter = await ValkeyLimiter.open({
    counts: await connectCounts(valkey),
    local: memory,
    share,
    addressQuota,
    backup: store,
    onFallback: (isActive, reason) => {
      if (isActive) log.warn("limits_not_shared", { reason: reason?.message ?? "" });
      else log.info("limits_shared_again");
    },
  });
  onLifted((keyId) => limiter.forgetBan(keyId));
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
  return { limiter, onLifted, close: () => limiter.close() };
}

/**
 * The counts that all processes share. Resolves when connected, or after a second: if the server does not answer, later
 * calls reject.
 */
export async function connectCounts(valkey: ValkeyAddress, timeouts?: ValkeyTimeouts): Promise<ValkeyCounts> {
  // The client takes 20 MB, which a service without Valkey does not need.
  const { Valkey } = await import("../limits/valkey/valkey.ts");
  return new ValkeyCounts(await Valkey.connect(valkey, timeouts));
}
