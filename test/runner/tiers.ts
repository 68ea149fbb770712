import { Glob } from "bun";

/** The groups in which tests run. Each has its own npm command. */
export const tiers = {
  /** What a change can break, on the embedded store. */
  embedded: { command: "npm test" },
  /** The same on PostgreSQL, and what only the database and the shared limits can show. */
  engines: { command: "npm run test:engines" },
  /** Kills, faults, many processes, overload, hostile input, delivery and clocks. */
  system: { command: "npm run test:system" },
} as const;

export type Tier = keyof typeof tiers;

/** Tests that start, kill, freeze or flood whole processes. */
const system = [
  /^test\/(attack|bodies|clocks|delivery|faults|hostile|leaks|overload|torture|workers)\//,
  /^test\/(banned-keys|document-lint|launching|lost-answers|many-processes|moving-animals|moving-animals-postgres|second-process|stopping|supply-chain|valkey-tls)\.test/,
  /^src\/(storage\/postgres\/postgres|limits\/valkey\/valkey)-faults\.test/,
];

/** Tests of PostgreSQL or Valkey themselves. */
const enginesOnly = [/^src\/(storage\/postgres|limits\/valkey)\//, /^test\/moving-store\.test/];

/** Tests of what a client sees, which must be the same on each engine. */
const onEachEngine = [
  /^src\/(domains|retries)\//,
  /^src\/limits\/limits\.store\./,
  /^test\/(every-operation|paging|protocol|telemetry)\.test/,
];

/** The tiers in which a test file runs. */
export function tiersOf(file: string): readonly Tier[] {
  const isOneOf = (patterns: readonly RegExp[]) => patterns.some((pattern) => pattern.test(file));
  if (isOneOf(system)) return ["system"];
  if (isOneOf(enginesOnly)) return ["engines"];
  return isOneOf(onEachEngine) ? ["embedded", "engines"] : ["embedded"];
}

/** Every test file of the project, relative to `root`, in alphabetical order. */
export function testFiles(root: string): string[] {
  return [...new Glob("{src,test,client,console}/**/*.test.{ts,tsx}").scanSync({ cwd: root })]
    .filter((file) => !file.includes("node_modules/") && !file.startsWith("test/interop/"))
    .toSorted();
}

/** The table of all test files in docs/tests.md. */
export function tierTable(root: string): string {
  const names = Object.keys(tiers) as Tier[];
  const rows = testFiles(root).map((file) => {
    const own = tiersOf(file);
    return `| \`${file}\` |${names.map((name) => (own.includes(name) ? " ✓ |" : " |")).join("")}`;
  });
  return [`| file | ${names.join(" | ")} |`, `| --- |${names.map(() => " --- |").join("")}`, ...rows].join("\n");
}
