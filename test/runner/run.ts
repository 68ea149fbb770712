// Runs the tests of one tier or of all, or the files that the arguments name, and ends with the line
// `N passed, N failed` (`, N skipped` if the machine lacks something): bun test/runner/run.ts TIER|all [FILE…]
// Files run in parallel, each on its own ports and in its own folders. After a run, all output of the
// services under test is searched for keys.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
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
import { type Tier, testFiles, tiers, tiersOf, timings } from "./tiers.ts";

const root = join(import.meta.dir, "../..");
/** The longest that a test may take, in milliseconds. It bounds a test that hangs. */
const TEST_TIMEOUT = isLongRun ? 1_800_000 : 240_000;
/** Most tests wait for a process or a disk, so more files run than there are cores. */
const PARALLEL = Number(process.env["TEST_PARALLEL"] ?? 2 * availableParallelism());
/** Failures in more files than this are not run again. */
const MAX_RETRIED_FILES = 3;

const [tier = "embedded", ...words] = process.argv.slice(2) as [(Tier | "all")?, ...string[]];
if (tier !== "all" && !Object.hasOwn(tiers, tier))
  throw new Error(`There is no tier ${tier}; there are ${Object.keys(tiers).join(", ")}, all.`);

/** Everything that a run leaves behind, so that it can be removed: reports, and the stores of killed services. */
const folder = mkdtempSync(join(tmpdir(), "petstore-tests-"));
chmodSync(folder, 0o711); // PostgreSQL, which does not run as root, keeps its files in it too
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
  rmSync(folder, { recursive: true, force: true });
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
  if (tier !== "engines" && tier !== "all") return [run("tests", files, {})];

  // Files that need no such environment share one run, because at the end of each run some processors are idle.
  const shared = files.filter((file) => tiersOf(file).includes("engines") && tiersOf(file).includes("embedded"));
  const own = tier === "all" ? files : files.filter((file) => !shared.includes(file));
  const results = own.length > 0 ? [run("tests", own, {})] : [];
  if (shared.length === 0) return results;
  if (postgresMissing !== undefined) return [...results, nothingRun(1)];
  const postgres = await SharedPostgres.start();
  try {
    return [...results, run("postgres", shared, { TEST_ENGINE: "postgres", ...postgres.environment })];
  } finally {
    await postgres.stop();
  }
}

/**
 * Runs files, and then those with a failure once more, one at a time. A test that fails twice has failed. A test that
 * fails only next to others depends on time or on load: it is named as flaky, so that someone repairs it, and counts
 * as passed. More than MAX_RETRIED_FILES files are no coincidence, and a long run looks for rare failures.
 */
function run(name: string, files: readonly string[], environment: Record<string, string>): Result {
  const [tests, search] = runOnce(name, files, environment, PARALLEL);
  const { failedFiles } = tests;
  if (isLongRun || failedFiles.length === 0 || failedFiles.length > MAX_RETRIED_FILES) return sum([tests, search]);
  console.log(`Runs again, one file at a time: ${failedFiles.join(", ")}.`);
  const [again, searchAgain] = runOnce(`${name}-again`, failedFiles, environment, 1);
  return sum([afterSecondRun(tests, again), search, searchAgain]);
}

/** Runs files and searches the output of their services. Returns the results of the tests and of the search. */
function runOnce(
  name: string,
  files: readonly string[],
  environment: Record<string, string>,
  parallel: number,
): [tests: Result, search: Result] {
  const [report, evidence, temporary] = [join(folder, `${name}.xml`), join(folder, name), join(folder, `tmp-${name}`)];
  mkdirSync(evidence);
  mkdirSync(temporary);
  chmodSync(temporary, 0o711);
  const times = join(folder, `${name}-times.json`);
  const cpuTimes = join(folder, `${name}-cpu-times`);
  writeFileSync(times, timings(files));
  const { exitCode } = Bun.spawnSync(
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
        TEST_POSTGRES_CLUSTER: join(temporary, "cluster"),
        ...environment,
        TEST_EVIDENCE: evidence,
        TEST_CPU_TIMES: cpuTimes,
        TEST_PROGRAM: program,
        TMPDIR: temporary,
      },
    },
  );
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
  return [readReport(report, exitCode, files, cpuTimes), search];
}
