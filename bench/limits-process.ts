// The process whose limiter `bench/limits.ts` measures: that of the checkout that is named. Told by messages what to do.
import { join } from "node:path";
import { UNLIMITED } from "./seed.ts";

/** What to do: how many requests in each turn of the event loop, of how many accounts, for how long. */
export interface LimitsLoad {
  readonly perTurn: number;
  readonly accounts: number;
  readonly seconds: number;
}

export interface LimitsResult {
  readonly decisions: number;
  /** Processor time of this process, in microseconds. */
  readonly cpu: number;
  /** True if the process decided some of them alone, because the machine is too busy. */
  readonly wasAlone: boolean;
}

/** How often it is looked whether the process decides alone, in milliseconds. */
const LOOK = 50;

const [checkout = "", valkey = "", folder = ""] = process.argv.slice(2);
const load = <T>(file: string) => import(join(checkout, "src", file)) as Promise<T>;
const { readConfig } = await load<typeof import("../src/config.ts")>("config.ts");
const { openStorage } = await load<typeof import("../src/app/open-storage.ts")>("store.ts");
const { openLimiter } = await load<typeof import("../src/app/open-limiter.ts")>("limiter.ts");
const { systemClock } = await load<typeof import("../src/timing/clock.ts")>("clock.ts");
const { Log } = await load<typeof import("../src/telemetry/log.ts")>("telemetry/log.ts");
const { Metrics } = await load<typeof import("../src/telemetry/metrics.ts")>("telemetry/metrics.ts");

const config = readConfig({ PETSTORE_VALKEY_URL: valkey, PETSTORE_DATA_DIR: folder });
const storage = await openStorage(config);
const parts = {
  storage,
  clock: systemClock,
  log: new Log("error"),
  metrics: new Metrics(),
  repeat: () => {},
  dataFolder: undefined,
  isDevelopment: true,
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
    shop: 1,
    scopes: new Set(["read"] as const),
    ...UNLIMITED,
  }));
  let wasAlone = false;
  const looks = setInterval(() => {
    wasAlone ||= /^petstore_limiter_degraded 1$/m.test(parts.metrics.expose());
  }, LOOK);
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
  clearInterval(looks);
  return { decisions, cpu: user + system, wasAlone };
}

function never(): never {
  throw new Error("There is a caller for each index.");
}
