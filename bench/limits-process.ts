// The process whose limiter `bench/limits.ts` measures: that of the checkout in the first argument. Messages name the load.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { UNLIMITED } from "./seed.ts";

/** How many requests in each turn of the event loop, of how many accounts, and for how many seconds. */
export interface LimitsLoad {
  readonly perTurn: number;
  readonly accounts: number;
  readonly seconds: number;
}

export interface LimitsResult {
  readonly decisions: number;
  /** CPU time of this process, in microseconds. */
  readonly cpu: number;
  /** True if the process counted some of them locally, because the machine is too busy. */
  readonly usedLocalFallback: boolean;
}

/** How often the process checks whether it counts locally, in milliseconds. */
const CHECK_INTERVAL = 50;

const [checkout = "", valkey = "", folder = ""] = process.argv.slice(2);

/** Imports a module of the checkout from the first path that exists there: older checkouts have other paths. */
function load<Module>(...paths: readonly string[]): Promise<Module> {
  const files = paths.map((path) => join(checkout, "bench", path));
  const file = files.find((one) => existsSync(one));
  if (file === undefined) throw new Error(`None of these files exists: ${files.join(", ")}`);
  return import(file);
}

const { readConfig } = await load<typeof import("../src/config.ts")>("../src/config.ts");
const { openStorage } = await load<typeof import("../src/app/store/engines.ts")>(
  "../src/app/store/open-storage.ts",
  "../src/app/open-storage.ts",
  "../src/app/store/engines.ts",
  "../src/store.ts",
);
const { openLimiter } = await load<typeof import("../src/app/open-limiter.ts")>(
  "../src/app/open-limiter.ts",
  "../src/limiter.ts",
);
const { systemClock } = await load<typeof import("../src/timing/clock.ts")>(
  "../src/timing/clock.ts",
  "../src/clock.ts",
);
const { Log } = await load<typeof import("../src/telemetry/log.ts")>("../src/telemetry/log.ts");
const { Metrics } = await load<typeof import("../src/telemetry/metrics.ts")>("../src/telemetry/metrics.ts");

const config = readConfig({ PETSTORE_VALKEY_URL: valkey, PETSTORE_DATA_DIR: folder });
const storage = await openStorage(config);
const nothing = () => {};
const metrics = new Metrics();
const parts = {
  storage,
  clock: systemClock,
  log: new Log("error"),
  metrics,
  repeat: nothing,
  hasDueTimes: nothing,
};
const { limiter } = await openLimiter(config, parts);

process.on("message", (message: LimitsLoad) => void run(message).then((result) => process.send?.(result)));
process.on("disconnect", () => process.exit());
process.send?.("ready");

async function run({ perTurn, accounts, seconds }: LimitsLoad): Promise<LimitsResult> {
  const callers = Array.from({ length: accounts }, (_, index) => ({
    accountId: `acc_${index}`,
    keyId: `key_${index}`,
    mode: "test" as const,
    name: "till",
    digest: "",
    shop: 1,
    expiresAt: Number.POSITIVE_INFINITY,
    lastUsedAt: 0,
    isSuspended: false,
    bannedUntil: null,
    bans: 0,
    scopes: new Set(["read"] as const),
    ...UNLIMITED,
  }));
  let usedLocalFallback = false;
  const checks = setInterval(() => {
    // Older checkouts say `alone`.
    usedLocalFallback ||= /^petstore_limiter_(degraded|alone) 1$/m.test(metrics.expose());
  }, CHECK_INTERVAL);
  const before = process.cpuUsage();
  const end = performance.now() + seconds * 1_000;
  let decisions = 0;
  while (performance.now() < end) {
    const turn = Array.from({ length: perTurn }, async (_, index) =>
      limiter.admit(callers[(decisions + index) % accounts] ?? never()),
    );
    for (const { verdict } of await Promise.all(turn)) if (verdict !== "admitted") throw new Error(verdict);
    decisions += perTurn;
  }
  const { user, system } = process.cpuUsage(before);
  clearInterval(checks);
  return { decisions, cpu: user + system, usedLocalFallback };
}

function never(): never {
  throw new Error("There is a caller for each index.");
}
