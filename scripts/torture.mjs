// Runs the tests that have a long form, for longer: npm run torture -- [--rounds N] [--seed N]
// `--rounds` is how often test/torture/durability.system.test.ts kills the service.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bun, ensureBun } from "./ensure-bun.mjs";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "1000" }, seed: { type: "string" } } });
for (const [name, value] of Object.entries(values)) {
  if (!/^[1-9][0-9]{0,9}$/.test(value)) throw new Error(`--${name} must be a whole number from 1 on.`);
}
ensureBun();
const root = fileURLToPath(new URL("..", import.meta.url));
const { status } = spawnSync(
  bun,
  [
    "test/runner/run.ts",
    "embedded",
    "test/torture",
    "test/hostile",
    "test/attack",
    "test/overload",
    "test/bodies",
    "test/processes/paging.system.test.ts",
    "test/supply-chain.system.test.ts",
    "test/events/webhook-kills.system.test.ts",
    "src/domains/events/event-reconnects.both.test.ts",
    "src/domains/orders/shop-model.both.test.ts",
    "client/test/lost-connections.test.ts",
  ],
  {
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      TORTURE: "long",
      TORTURE_ROUNDS: values.rounds,
      ...(values.seed === undefined ? {} : { TORTURE_SEED: values.seed }),
    },
  },
);
process.exitCode = status ?? 1;
