// The short form of the drill: the primary's machine dies under load, and its synchronous standby is promoted.
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { hasNginx } from "../deployment/proxy.ts";
import { postgresMissing } from "../harness/postgres-server.ts";
import { hasValkey } from "../harness/valkey-server.ts";
import { measureFault } from "./drill.ts";
import { primaryDies } from "./faults.ts";
import type { Load } from "./load.ts";
import { canMakeNetworks } from "./network.ts";
import { newCluster } from "./servers.ts";

const canRun = canMakeNetworks() && postgresMissing === undefined && hasValkey && hasNginx;

const isServed = (load: Load) => load.untilServed(100, 20);

test.skipIf(!canRun)("if the primary dies with its machine, no acknowledged write is lost or duplicated", async () => {
  const cluster = newCluster();
  const pace = { before: isServed, during: async () => {}, after: isServed, notice: 500 };
  const { acknowledged, lost, duplicated, violations, admittedBeyond } = await measureFault(primaryDies, cluster, pace);
  rmSync(cluster, { recursive: true });
  expect(violations).toEqual([]);
  expect([lost, duplicated, admittedBeyond]).toEqual([0, 0, 0]);
  expect(acknowledged).toBeGreaterThanOrEqual(200); // 100 before the fault and 100 after it
});
