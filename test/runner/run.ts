// Runs the tests of one tier or of all, or the files that the arguments name, and ends with the line
// `N passed, N failed` (`, N skipped` if the machine lacks something): bun test/runner/run.ts TIER|all [FILE…]
// Files run in parallel, each on its own ports and in its own folders. After a run, all output of the
// services under test is searched for keys.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { buildExecutable } from "../../scripts/release/executable.ts";
import { hasInteropTools, needsInteropTools } from "../harness/interop-tools.ts";
import { postgresMissing, programs } from "../harness/postgres-server.ts";
import { SharedPostgres } from "../harness/shared-postgres.ts";
import { isLongRun } from "../harness/test-length.ts";
import { searchEvidence } from "../leaks/search.ts";
import { whatIsMissing } from "./missing-tools.ts";
import { afterSecondRun, closingLine, nothingRun, type Result, readReport, slowestLines, sum } from "./report.ts";
import { isFlooding, type Tier, testFiles, tiers, tiersOf, timings } from "./tiers.ts";

const root = join(import.meta.dir, "../..");
/** The longest that a test may take, in milliseconds. It bounds a test that hangs. */
const TEST_TIMEOUT = isLongRun ? 1_800_000 : 240_000;
/** Most tests wait for a process or a disk, so more files run than there are cores. */
const PARALLEL = Number(process.env["TEST_PARALLEL"] ?? 2 * availableParallelism());
/**
 * A file system in memory. The tests make tens of thousands of PostgreSQL's files, and some disks need an eighth of all
 * CPU time for that. They take up to 3 GB.
 */
const MEMORY = "/dev/shm";
const FREE_MEMORY = 8e9;
/** Failures in more files than this are not run again. */
const MAX_RETRIED_FILES = 8;

const [tier = "embedded", ...words] = process.argv.slice(2) as [(Tier | "all")?, ...string[]];
if (tier !== "all" && !Object.hasOwn(tiers, tier))
  throw new Error(`There is no tier ${tier}; there are ${Object.keys(tiers).join(", ")}, all.`);

/** Everything that a run leaves behind, so that it can be removed: reports, and the stores of killed services. */
const folder = mkdtempSync(join(tmpdir(), "petstore-tests-"));
/** The files of PostgreSQL servers. */
const databases = mkdtempSync(join(hasFreeMemory() ? MEMORY : folder, "petstore-databases-"));
process.env["TEST_POSTGRES_FOLDER"] = databases;
for (const one of [folder, databases]) chmodSync(one, 0o711); // PostgreSQL does not run as root
/** The executable under test. A run that is a part of a test uses the one of the outer run. */
const program = process.env["TEST_PROGRAM"] ?? join(folder, "petstore");
try {
  const result = sum(await runTier());
  if (result.skipped > 0) for (const line of await whatIsMissing(result.skippedFiles)) console.log(line);
  for (const line of slowestLines(result)) console.log(line);
  for (const failure of result.flaky) console.log(`Flaky, passed when run again: ${failure}`);
  for (const failure of result.failures) console.log(failure);
  console.log(closingLine(result));
  process.exitCode = result.failed > 0 ? 1 : 0;
} finally {
  for (const one of [databases, folder]) rmSync(one, { recursive: true, force: true });
}

function hasFreeMemory(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= FREE_MEMORY;
}

/** Test files that run in the same environment. */
interface Group {
  readonly name: string;
  readonly files: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** How many of the files run at the same time. */
  readonly parallel: number;
}

function isEmbedded(file: string): boolean {
  return tiersOf(file).includes("embedded");
}

function isOnEachEngine(file: string): boolean {
  return tiersOf(file).includes("engines") && isEmbedded(file);
}

/** Runs the files that the arguments name, whatever their tier, or else all files of the tier. */
async function runTier(): Promise<Result[]> {
  const named = words.flatMap((word) =>
    existsSync(join(root, word)) && statSync(join(root, word)).isFile()
      ? [word]
      : testFiles(root).filter((file) => file.includes(word)),
  );
  const isIn = (file: string) => tier === "all" || tiersOf(file).includes(tier);
  const files = words.length > 0 ? [...new Set(named)] : testFiles(root).filter(isIn);
  if (files.length === 0) throw new Error(`No test file matches ${words.join(" ")}.`);
  if (files.some(needsInteropTools)) hasInteropTools();
  if (!existsSync(program)) buildExecutable(program);

  const shared = tier === "engines" || tier === "all" ? files.filter(isOnEachEngine) : [];
  const own = tier === "engines" ? files.filter((file) => !isOnEachEngine(file)) : files;
  const floods = { name: "floods", files: own.filter(isFlooding), environment: {}, parallel: 1 };
  const alone = { ...floods, name: "tests", files: own.filter((file) => !isFlooding(file)), parallel: PARALLEL };
  if (shared.length === 0) return runLanes([[alone, floods]]);
  if (postgresMissing !== undefined) return [...(await runLanes([[alone, floods]])), nothingRun(1)];
  const postgres = await SharedPostgres.start();
  const environment = { TEST_ENGINE: "postgres", ...postgres.environment };
  try {
    const parallel = Math.ceil(PARALLEL / 3);
    const onPostgres = { name: "postgres", files: shared, environment, parallel };
    const onSqlite = { ...alone, name: "embedded", files: alone.files.filter(isEmbedded), parallel };
    // They take about as long as both of these groups together.
    const rest = alone.files.filter((file) => !isEmbedded(file));
    const others = { ...alone, files: rest, parallel: Math.max(1, PARALLEL - 1) };
    return [...(await runLanes([[onPostgres, onSqlite], [others]])), ...(await runLanes([[floods]]))];
  } finally {
    await postgres.stop();
  }
}

/** Runs lanes at the same time, and the groups of a lane in sequence. */
async function runLanes(lanes: readonly (readonly Group[])[]): Promise<Result[]> {
  const runs: Run[] = [];
  const runLane = async (groups: readonly Group[]) => {
    for (const group of groups) if (group.files.length > 0) runs.push(await runOnce(group));
  };
  await Promise.all((PARALLEL === 1 ? [lanes.flat()] : lanes).map(runLane));
  const results: Result[] = [];
  for (const run of runs) results.push(...(await retry(run)));
  return results;
}

/**
 * Runs the files with a failure once more, one at a time. A test that fails twice has failed. A test that fails only
 * next to others depends on time or on load: it is named as flaky, so that someone repairs it, and counts as passed.
 * More than MAX_RETRIED_FILES files are no coincidence, and a long run looks for rare failures.
 */
async function retry({ group, tests, search }: Run): Promise<Result[]> {
  const { failedFiles } = tests;
  if (isLongRun || failedFiles.length === 0 || failedFiles.length > MAX_RETRIED_FILES) return [tests, search];
  console.log(`Runs again, one file at a time: ${failedFiles.join(", ")}.`);
  const again = await runOnce({ ...group, name: `${group.name}-again`, files: failedFiles, parallel: 1 });
  return [afterSecondRun(tests, again.tests), search, again.search];
}

/** The results of the tests of a group, and of the search in the output of their services. */
interface Run {
  readonly group: Group;
  readonly tests: Result;
  readonly search: Result;
}

/** Runs a group of files and searches the output of their services. */
async function runOnce(group: Group): Promise<Run> {
  const { name, files, environment, parallel } = group;
  const [report, evidence, temporary] = [join(folder, `${name}.xml`), join(folder, name), join(folder, `tmp-${name}`)];
  mkdirSync(evidence);
  mkdirSync(temporary);
  chmodSync(temporary, 0o711);
  const times = join(folder, `${name}-times.json`);
  const cpuTimes = join(folder, `${name}-cpu-times`);
  writeFileSync(times, timings(files));
  const child = Bun.spawn(
    [
      process.execPath,
      "test",
      `--parallel=${parallel}`,
      parallel === 1 ? "--isolate" : "--no-isolate",
      `--timings=${times}`,
      `--timeout=${TEST_TIMEOUT}`,
      "--only-failures",
      "--preload=./test/runner/record-cpu-time.ts",
      "--preload=./test/leaks/record.ts",
      "--preload=./test/harness/property-seed.ts",
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      ...files.map((file) => `./${file}`),
    ],
    {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit"],
      env: {
        ...process.env,
        ...(postgresMissing === undefined && { TEST_POSTGRES_BIN: programs() }), // found once for all
        TEST_POSTGRES_CLUSTER: join(databases, `cluster-${name}`),
        ...environment,
        TEST_EVIDENCE: evidence,
        TEST_CPU_TIMES: cpuTimes,
        TEST_PROGRAM: program,
        TMPDIR: temporary,
      },
    },
  );
  const exitCode = await child.exited;
  const { keys, bytes, leaks } = searchEvidence(evidence);
  console.log(
    `Searched ${(bytes / 1e6).toFixed(1)} MB of responses, logs and output for ${keys} keys: ${leaks.length} leaks.`,
  );
  const search: Result = {
    ...nothingRun(0),
    passed: leaks.length === 0 ? 1 : 0,
    failed: leaks.length === 0 ? 0 : 1,
    failures: leaks.map((leak) => `Leak: ${leak}`),
  };
  return { group, tests: readReport(report, exitCode, files, cpuTimes), search };
}
