import type { Config } from "../config.ts";
import type { Host } from "../domains/domain.ts";
import type { Caller, Limiter } from "../http/ports.ts";
import { addressQuota } from "../limits/address-quota.ts";
import { ClockReader, realSeconds } from "../limits/clock-reading.ts";
import { LimitStore } from "../limits/limits.store.ts";
import { MemoryLimiter, nothingKept } from "../limits/memory-limiter.ts";
import type { Decision } from "../limits/valkey/decision.ts";
import { Share } from "../limits/valkey/share.ts";
import { ValkeyCounts } from "../limits/valkey/valkey-counts.ts";
import { ValkeyLimiter } from "../limits/valkey/valkey-limiter.ts";
import type { ValkeyAddress } from "../limits/valkey/valkey-url.ts";
import type { Storage } from "../storage/storage.ts";
import type { Clock } from "../timing/clock.ts";
import { isForManyProcesses } from "./open-storage.ts";

/** The limiter of a running service. */
export interface LimiterEngine {
  readonly limiter: Limiter;
  close(): void;
}

const gauges = {
  shops: "Shops whose windows are in memory.",
  addresses: "Addresses whose windows are in memory.",
  keys: "Keys that were limited lately or are banned.",
};

/**
 * Opens the limiter that the settings choose: the memory of this process, which the store outlives it in,
 * or a Valkey or Redis server that all processes share.
 */
export async function openLimiter(
  config: Config,
  { storage, clock, log, metrics, repeat }: Omit<Host, "limiter">,
): Promise<LimiterEngine> {
  const { valkey } = config;
  const share = new Share();
  const store = new LimitStore(storage);
  // While Valkey is away, a process that starts knows the bans at least.
  const memory =
    valkey === undefined
      ? await MemoryLimiter.open(store, clock, addressQuota)
      : await MemoryLimiter.open({ ...nothingKept, bans: (now) => store.bans(now) }, clock, share.of(addressQuota));
  for (const [kind, meaning] of Object.entries(gauges) as [keyof typeof gauges, string][]) {
    metrics.gauge(`petstore_limiter_${kind}`, meaning, () => memory.size[kind]);
  }
  if (valkey === undefined) {
    if (isForManyProcesses(config)) log.warn("limits_not_shared", { reason: "PETSTORE_VALKEY_URL is not set" });
    repeat({ name: "save_limits", by: "each", run: () => memory.save() });
    return { limiter: memory, close: () => {} };
  }

  const limiter = await ValkeyLimiter.open({
    counts: await connect(valkey),
    local: memory,
    share,
    addressQuota,
    backup: store,
    changed: (isDegraded, reason) => {
      if (isDegraded) log.warn("limits_not_shared", { reason: reason?.message ?? "" });
      else log.info("limits_shared_again");
    },
  });
  metrics.gauge(
    "petstore_limiter_degraded",
    "1 while this process counts limits alone, because the server is away.",
    () => Number(limiter.isDegraded),
  );
  metrics.gauge("petstore_limiter_processes", "Processes that count limits together.", () => share.processes);
  const save = async () => {
    await memory.save();
    await limiter.save();
  };
  repeat({ name: "save_limits", by: "each", run: save });
  return { limiter, close: () => limiter.close() };
}

async function connect(valkey: ValkeyAddress): Promise<ValkeyCounts> {
  // The client takes 20 MB, which a service without Valkey does not need.
  const { Valkey } = await import("../limits/valkey/valkey.ts");
  return new ValkeyCounts(await Valkey.connect(valkey));
}

/** Keys whose bans a server is asked for at once. */
const KEYS_AT_ONCE = 100;

/**
 * When the bans end that hold now, in unix seconds, by key, for a process that serves nothing. They are in the store,
 * where a service writes a ban before it answers with it, or on the server of PETSTORE_VALKEY_URL, which is asked for
 * each of `keys`. Rejects if that server does not answer.
 */
export async function readBanEnds(
  { valkey }: Config,
  storage: Storage,
  clock: Clock,
  keys: readonly Pick<Caller, "keyId" | "accountId" | "mode">[],
): Promise<ReadonlyMap<string, number>> {
  const stored = await new LimitStore(storage).banEnds(new ClockReader(clock).now());
  if (valkey === undefined) return stored;
  const ends = new Map<string, number>();
  const counts = await connect(valkey);
  try {
    for (let start = 0; start < keys.length; start += KEYS_AT_ONCE) {
      // The figures of the plan matter for the windows only, which nobody looks at here.
      const quota = { perMinute: 1, perDay: 1 };
      const some = keys.slice(start, start + KEYS_AT_ONCE);
      const looks = some.map(({ keyId, ...shop }) => ({
        keyId,
        owner: shop.accountId,
        countedBy: shop.mode,
        shop,
        quota,
        requests: 0,
      }));
      for (const asked of counts.calls(looks, ({ owner }) => owner)) {
        const decisions = await counts.decide(asked);
        for (const [index, { keyId }] of asked.entries()) {
          const end = endOfBan(decisions[index], stored.get(keyId));
          if (end !== undefined) ends.set(keyId, end);
        }
      }
    }
  } finally {
    counts.close();
  }
  return ends;
}

/** A shop that the server does not know gets its bans back from the store with its next request. */
function endOfBan(decision: Decision | undefined, stored: number | undefined): number | undefined {
  if (!decision) return stored;
  return decision.now < decision.banEnds ? realSeconds(decision.banEnds, decision.ahead) : undefined;
}
