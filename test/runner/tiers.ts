import { Glob } from "bun";
import { isLongRun } from "../harness/test-length.ts";

/** The groups in which tests run. Each has its own npm command. */
export const tiers = {
  /** What a change can break, on the embedded store. */
  embedded: { command: "npm test" },
  /** The same on PostgreSQL, and what only the database and the shared limits can show. */
  engines: { command: "npm run test:engines" },
  /** Kills, faults, many processes, overload, hostile input, deployment, clocks, and pages in a browser. */
  system: { command: "npm run test:system" },
} as const;

export type Tier = keyof typeof tiers;

/** Tests that start, kill, freeze or flood whole processes, a browser's too: folders and files. */
const system = [
  "test/attack/",
  "test/bodies/",
  "test/clocks/",
  "test/console/",
  "test/deployment/",
  "test/drill/",
  "test/faults/",
  "test/hostile/",
  "test/interop/",
  "test/leaks/",
  "test/overload/",
  "test/processes/",
  "test/torture/",
  "test/commands/banned-keys.test.ts",
  "test/commands/doctor.test.ts",
  "test/commands/import-export-postgres.test.ts",
  "test/commands/import-export.test.ts",
  "test/commands/launching.test.ts",
  "test/document/document-lint.test.ts",
  "test/document/reference-page.test.ts",
  "test/store/archived-log.test.ts",
  "test/store/backups.test.ts",
  "test/store/lost-responses.test.ts",
  "test/store/restored.test.ts",
  "test/supply-chain.test.ts",
  "src/limits/valkey/valkey-faults.test.ts",
  "src/limits/valkey/valkey-tls.test.ts",
  "src/storage/postgres/postgres-faults.test.ts",
];

/** Tests that leave no processor to others: they run alone. */
const flooding = [
  "test/attack/",
  "test/overload/",
  "test/processes/limits.test.ts",
  "test/torture/limit-bursts.test.ts",
] as const;

/** True for a test that must not run beside others. */
export function isFlooding(file: string): boolean {
  return flooding.some((place) => file.startsWith(place));
}

/** Tests of PostgreSQL or Valkey themselves. */
const enginesOnly = [
  "src/limits/valkey/",
  "src/storage/postgres/",
  "test/store/consistent-reads-postgres.test.ts",
  "test/store/migrate-store.test.ts",
  "test/store/page-costs.test.ts",
];

/** Tests of what a client sees, which must be the same on each engine. */
const onEachEngine = [
  "src/domains/",
  "src/mcp/",
  "test/clocks/jumped.test.ts",
  "test/contract/every-operation.test.ts",
  "test/contract/new-domain.test.ts",
  "test/contract/paging.test.ts",
  "test/contract/protocol.test.ts",
  "test/contract/simulated-errors.test.ts",
  "test/contract/simulation.test.ts",
  "test/events/streams.test.ts",
  "test/shops/deleted-accounts.test.ts",
  "test/shops/suspended-accounts.test.ts",
  "test/shops/two-shops.test.ts",
  "test/store/current-reads.test.ts",
  "test/store/sample-stores.test.ts",
  "test/telemetry/telemetry.test.ts",
];

/** Tests in the folders above that use no store, so that they show the same on each engine. */
export const withoutStore = [
  "src/domains/domain.test.ts",
  "src/domains/events/event-watch.test.ts",
  "src/domains/events/publish.test.ts",
  "src/domains/pets/pets.files.test.ts",
  "src/domains/webhooks/secrets/signatures.test.ts",
  "src/domains/webhooks/sending/addresses.test.ts",
  "src/domains/webhooks/sending/backoff.test.ts",
  "src/domains/webhooks/sending/send-addresses.test.ts",
  "src/domains/webhooks/sending/send-tls.test.ts",
  "src/domains/webhooks/sending/send.test.ts",
];

/** The tiers in which a test file runs. */
export function tiersOf(file: string): readonly Tier[] {
  const isIn = (places: readonly string[]) => places.some((place) => file.startsWith(place));
  if (isIn(onEachEngine) && !withoutStore.includes(file)) return ["embedded", "engines"];
  if (isIn(system)) return ["system"];
  return isIn(enginesOnly) ? ["engines"] : ["embedded"];
}

/**
 * The files that take longest, as the closing lines of a run name them. They start first, so that no run ends with one
 * of them alone.
 */
export const slowest = [
  "test/hostile/hostile.test.ts",
  "test/torture/durability.test.ts",
  "test/document/reference-page.test.ts",
  "src/domains/idempotency/idempotency.test.ts",
  "test/deployment/readme-several-machines.test.ts",
  "test/store/page-costs.test.ts",
  "test/console/shop.test.ts",
  "src/domains/orders/shop-model.test.ts",
  "test/leaks/search.test.ts",
  "src/storage/postgres/postgres-faults.test.ts",
  "test/console/webhooks.test.ts",
  "test/shops/accounts.test.ts",
  "src/domains/usage/usage.test.ts",
  "test/clocks/jumped.test.ts",
  "test/contract/every-operation.test.ts",
  "src/domains/pets/pets.import.test.ts",
  "test/commands/command-line.test.ts",
  "src/domains/events/events.test.ts",
  "test/contract/simulation.test.ts",
  "test/docs.test.ts",
  "test/contributing.test.ts",
];

/** What Bun reads as the time that each file takes, in milliseconds: it starts the files with the longest first. */
export function timings(files: readonly string[]): string {
  const times = Object.fromEntries(files.map((file) => [file, 1]));
  for (const [index, file] of slowest.entries()) if (file in times) times[file] = 1 + slowest.length - index;
  return JSON.stringify({ version: 1, files: times });
}

/**
 * The test files of the project, relative to `root`, in alphabetical order. Those named `*.long.test.ts` are only for
 * long runs.
 */
export function testFiles(root: string): string[] {
  return [...new Glob("{src,test,client,console}/**/*.test.{ts,tsx}").scanSync({ cwd: root })]
    .filter((file) => !file.includes("node_modules/") && (isLongRun || !file.includes(".long.test.")))
    .toSorted();
}
