import type { Config } from "../config.ts";
import type { Host } from "../domains/domain.ts";
import { WindowLimiter } from "../limits/limiter.ts";
import { LimitStore } from "../limits/limits.store.ts";
import { MemoryCounts } from "../limits/memory-counts.ts";
import { commandsTo } from "../limits/valkey/commands.ts";
import { SharedCounts } from "../limits/valkey/shared-counts.ts";
import type { ValkeyAddress } from "../limits/valkey/valkey-url.ts";
import { engineOf } from "./store/engines.ts";

/** The limiter of a running service. */
export type RunningLimiter = Awaited<ReturnType<typeof openLimiter>>;

type Parts = Pick<Host, "storage" | "clock" | "log" | "metrics" | "repeat">;

/**
 * Opens the limiter that the settings choose. It counts in a Valkey or Redis server that all processes share, or in the
 * memory of this process, which an embedded store saves.
 */
export async function openLimiter(config: Config, parts: Parts) {
  const { valkey } = config;
  return valkey ? openShared(valkey, parts) : openInMemory(config, parts);
}

function openInMemory(config: Config, { storage, clock, log, repeat }: Parts) {
  const isEmbedded = engineOf(config).lock !== undefined;
  const counts = new MemoryCounts(clock, isEmbedded ? new LimitStore(storage) : undefined);
  if (isEmbedded) repeat({ name: "save_limits", by: "each", run: () => counts.save() });
  else log.warn("limits_not_shared", { reason: "PETSTORE_VALKEY_URL is not set" });
  return { limiter: new WindowLimiter(counts), close: () => {} };
}

async function openShared(address: ValkeyAddress, { clock, log, metrics }: Parts) {
  // The client takes 20 MB, which a service without Valkey does not need.
  const { Valkey } = await import("../limits/valkey/valkey.ts");
  let times = 0;
  const counts = await SharedCounts.open({
    commands: commandsTo(await Valkey.connect(address)),
    local: new MemoryCounts(clock),
    onAlone: (isAlone, reason) => {
      if (!isAlone) return log.info("limits_shared_again");
      times++;
      log.warn("limits_not_shared", { reason: reason?.message ?? "" });
    },
  });
  metrics.gauge(
    "petstore_limiter_degraded",
    "1 while this process counts limits alone, because Valkey is unreachable.",
    () => Number(counts.isAlone),
  );
  metrics.counter(
    "petstore_limiter_degraded_total",
    "How often this process began to count limits alone, because Valkey was unreachable.",
    () => times,
  );
  metrics.gauge("petstore_limiter_processes", "Processes that share the counts of limits.", () => counts.processes);
  return { limiter: new WindowLimiter(counts), close: () => counts.close() };
}
