// Breaks machines, links and clocks of a service on three machines under load, and writes docs/drill-results.md: npm run drill
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Outcome, Pace } from "./drill.ts";
import { faults } from "./faults.ts";
import { canMakeNetworks } from "./network.ts";
import { page } from "./page.ts";

const SECOND = 1_000;
const pace: Pace = {
  before: () => Bun.sleep(5 * SECOND),
  during: () => Bun.sleep(10 * SECOND),
  after: () => Bun.sleep(10 * SECOND),
  notice: 3 * SECOND,
};

/** Debian's PostgreSQL, if it is there. */
const debian = "/usr/lib/postgresql";
// Before the module that looks for it is loaded.
const [release] = existsSync(debian) ? readdirSync(debian).toSorted().toReversed() : [];
if (release !== undefined) process.env["TEST_POSTGRES_BIN"] ??= join(debian, release, "bin");
const { measureFault: perform } = await import("./drill.ts");
const { hasFaketime } = await import("./testbed.ts");
const { newCluster, serverVersions } = await import("./servers.ts");

if (!canMakeNetworks() || !hasFaketime) {
  console.error(
    "The drill needs root, network namespaces, nft and faketime (Debian: apt-get install iproute2 nftables faketime).",
  );
  process.exit(1);
}
const only = process.argv[2];
const cluster = newCluster();
const outcomes: Outcome[] = [];
for (const fault of faults.filter(({ name }) => only === undefined || name.includes(only))) {
  const outcome = await perform(fault, cluster, pace);
  const { fault: _, failures, ...figures } = outcome;
  console.log(fault.name, JSON.stringify({ ...figures, failures: Object.fromEntries(failures) }));
  outcomes.push(outcome);
}
rmSync(cluster, { recursive: true });
if (only === undefined)
  await Bun.write(join(import.meta.dir, "../../docs/drill-results.md"), page(outcomes, serverVersions()));
const broken = outcomes.filter(
  ({ lost, duplicated, violations, failures }) => lost + duplicated + violations.length > 0 || failures.has(500),
);
process.exit(broken.length > 0 ? 1 : 0);
