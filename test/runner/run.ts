// Runs the tests of one tier or of all, or the files that the arguments name, with `bun test`:
// bun test/runner/run.ts embedded|engines|system|all [--table] [--fresh] [FILE…]
// It builds the executable and starts PostgreSQL once for all files, searches the output of the services under test for
// keys, and ends with the line `N passed, N failed` (`, N skipped` if the machine lacks something).
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Glob } from "bun";
import { buildExecutable } from "../../scripts/release/executable.ts";
import { hasInteropTools, needsInteropTools, passedFile, passedState } from "../harness/interop-tools.ts";
import { postgresMissing, programs } from "../harness/postgres-server.ts";
import { SharedPostgres } from "../harness/shared-postgres.ts";
import { isLongRun, testTimeout } from "../harness/test-length.ts";
import { searchEvidence } from "../leaks/search.ts";
import { leaveCpuGroup, ownCpuTime } from "./cpu-time.ts";
import { whatIsMissing } from "./missing-tools.ts";

/** The kinds of files that run in each tier: the word before `.test.ts`, or none. */
const tiers: Readonly<Record<string, readonly string[]>> = {
  embedded: ["", "both"],
  engines: ["engines", "both"],
  system: ["system", "tools", "alone"],
  all: ["", "both", "engines", "system", "tools", "alone"],
};
/** What takes longest starts first, so that no run ends with one file alone. */
const startOrder = ["", "both", "engines", "tools", "system"];

const root = join(import.meta.dir, "../..");
/** Most tests wait for a process or a disk, so more files run than there are cores. */
const PARALLEL = Number(process.env["TEST_PARALLEL"] ?? 2 * availableParallelism());
/**
 * A file system in memory. The tests make tens of thousands of PostgreSQL's files, and some disks need an eighth of all
 * CPU time for that. They take up to 3 GB.
 */
const MEMORY = "/dev/shm";
const FREE_MEMORY = 8e9;
/** How many files are named as those that used most CPU time. */
const NAMED = 8;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { table: { type: "boolean" }, fresh: { type: "boolean" } },
});
const [tier = "", ...words] = positionals;
const kinds = tiers[tier];
if (!kinds) throw new Error(`There is no tier ${tier}; there are ${Object.keys(tiers).join(", ")}.`);

/** All test files but, in a short run, those for long ones. */
const allFiles = [...new Glob("{src,test,client,console}/**/*.test.{ts,tsx}").scanSync({ cwd: root })]
  .filter((file) => !file.includes("node_modules/") && (isLongRun || !file.includes(".long.")))
  .toSorted();

const isFile = (path: string) => existsSync(path) && statSync(path).isFile();
const started = performance.now();
const cpuTime = ownCpuTime();
/** Everything that a run leaves behind, so that it can be removed: reports, and the stores of killed services. */
const folder = mkdtempSync(join(tmpdir(), "petstore-tests-"));
/** The files of PostgreSQL servers. */
const databases = mkdtempSync(join(hasFreeMemory() ? MEMORY : folder, "petstore-databases-"));
process.env["TEST_POSTGRES_FOLDER"] = databases;
for (const one of [folder, databases]) chmodSync(one, 0o711); // PostgreSQL does not run as root
/** The executable under test. A run that is a part of a test uses the one of the outer run. */
const program = process.env["TEST_PROGRAM"] ?? join(folder, "petstore");
const times = join(folder, "times");
const total = { tests: 0, failures: 0, skipped: 0 };
const failures: string[] = [];
const filesWithSkips: string[] = [];
try {
  await runTier();
  if (total.skipped > 0) for (const line of await whatIsMissing(filesWithSkips)) console.log(line);
  printTimes();
  for (const failure of failures) console.log(failure);
  const passed = total.tests - total.failures - total.skipped;
  console.log(`${passed} passed, ${failures.length} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ""}`);
  process.exitCode = failures.length > 0 ? 1 : 0;
} finally {
  for (const one of [databases, folder]) rmSync(one, { recursive: true, force: true });
  leaveCpuGroup();
}

function hasFreeMemory(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= FREE_MEMORY;
}

function kindOf(file: string): string {
  return /\.(both|engines|system|tools|alone)\.test\.tsx?$/.exec(file)?.[1] ?? "";
}

/** The files that the arguments name, whatever their tier, or else all of the tier. */
function chosenFiles(): string[] {
  if (words.length === 0) return allFiles.filter((file) => kinds?.includes(kindOf(file)));
  return [
    ...new Set(
      words.flatMap((word) => (isFile(join(root, word)) ? [word] : allFiles.filter((file) => file.includes(word)))),
    ),
  ];
}

async function runTier(): Promise<void> {
  if (!existsSync(program)) buildExecutable(program);
  const chosen = chosenFiles();
  if (chosen.length === 0) throw new Error(`No test file matches ${words.join(" ")}.`);
  const tools = allFiles.filter((file) => kindOf(file) === "tools");
  const state = tools.every((file) => chosen.includes(file)) ? passedState(program) : undefined;
  const isKnown = existsSync(passedFile) && readFileSync(passedFile, "utf8") === state;
  const skipsTools = isKnown && !values.fresh && words.length === 0;
  if (skipsTools) console.log("Third-party tools have passed with this document and client: --fresh runs them again.");
  const files = skipsTools ? chosen.filter((file) => !tools.includes(file)) : chosen;
  if (files.some(needsInteropTools)) hasInteropTools();
  const alone = files.filter((file) => kindOf(file) === "alone");
  const onPostgres = tier === "engines" || tier === "all" ? files.filter((file) => kindOf(file) === "both") : [];
  const others = files.filter((file) => !alone.includes(file) && (tier === "all" || !onPostgres.includes(file)));

  await runFiles("tests", others, PARALLEL);
  if (onPostgres.length > 0 && postgresMissing === undefined) {
    const postgres = await SharedPostgres.start();
    try {
      await runFiles("postgres", onPostgres, PARALLEL, { TEST_ENGINE: "postgres", ...postgres.environment });
    } finally {
      await postgres.stop();
    }
  } else total.skipped += onPostgres.length;
  await runFiles("alone", alone, 1);
  const isIn = (list: readonly string[]) => tools.some((file) => list.some((one) => one.includes(file)));
  if (state !== undefined && !isIn(failures) && !isIn(filesWithSkips)) writeFileSync(passedFile, state);
}

/** Runs files in the same environment, so many at a time, and searches the output of their services. */
async function runFiles(name: string, files: readonly string[], parallel: number, environment = {}): Promise<void> {
  if (files.length === 0) return;
  const [report, evidence, temporary] = [join(folder, `${name}.xml`), join(folder, name), join(folder, `tmp-${name}`)];
  mkdirSync(evidence);
  mkdirSync(temporary);
  chmodSync(temporary, 0o711);
  const order = join(folder, `${name}.json`); // Bun starts the files with the longest time first
  const ranks = Object.fromEntries(files.map((file) => [file, 1 + startOrder.indexOf(kindOf(file))]));
  writeFileSync(order, JSON.stringify({ version: 1, files: ranks }));
  const child = Bun.spawn(
    [
      process.execPath,
      "test",
      `--parallel=${parallel}`,
      parallel === 1 ? "--isolate" : "--no-isolate",
      `--timings=${order}`,
      `--timeout=${testTimeout}`, // that of the preload is for the first file of a process only
      "--only-failures",
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
        TEST_POSTGRES_CLUSTER: join(databases, "cluster"),
        ...environment,
        TEST_EVIDENCE: evidence,
        TEST_TIMES: times,
        TEST_PROGRAM: program,
        TMPDIR: temporary,
      },
    },
  );
  count(report, await child.exited, files);
  const { keys, bytes, leaks } = searchEvidence(evidence);
  failures.push(...leaks.map((leak) => `Leak: ${leak}`));
  const megabytes = (bytes / 1e6).toFixed(1);
  console.log(`Searched ${megabytes} MB of responses, logs and output for ${keys} keys: ${leaks.length} leaks.`);
}

/** Adds the results of a run. Bun leaves a file that it cannot load out of its report. */
function count(report: string, status: number, files: readonly string[]): void {
  const xml = existsSync(report) ? readFileSync(report, "utf8") : "";
  const [, sums = ""] = /<testsuites ([^>]*)>/.exec(xml) ?? [];
  for (const name of ["tests", "failures", "skipped"] as const)
    total[name] += Number(new RegExp(`\\b${name}="([0-9]+)"`).exec(sums)?.[1] ?? 0);
  const cases = [...xml.matchAll(/<testcase name="([^"]*)"[^>]* file="([^"]*)"[^>]*>\s*(<failure|<skipped)?/g)];
  const failed = cases
    .filter(([, , , result]) => result === "<failure")
    .map(
      ([, test = "", file]) =>
        `${file}: ${test.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">")}`,
    );
  const ran = new Set(cases.map(([, , file]) => file));
  const silent = files.filter((file) => !ran.has(file)).map((file) => `${file}: it ran no test`);
  filesWithSkips.push(...cases.flatMap(([, , file = "", result]) => (result === "<skipped" ? [file] : [])));
  const found = [...failed, ...silent].map((one) => `Failed: ${one}`);
  failures.push(...(found.length === 0 && status !== 0 ? ["Failed: see the output above"] : found));
}

/** The CPU time of each file with its services and its browser, or of those that used most, and the totals. */
function printTimes(): void {
  appendFileSync(times, "");
  const files = readFileSync(times, "utf8").split("\n").filter(Boolean);
  const rows = files.map((line) => JSON.parse(line) as { file: string; cpu: number; wall: number });
  const sorted = rows.toSorted((one, other) => other.cpu - one.cpu).slice(0, values.table ? rows.length : NAMED);
  console.log("CPU and wall time in seconds, by file:");
  for (const { file, cpu, wall } of sorted)
    console.log(`${cpu.toFixed(1).padStart(7)} ${wall.toFixed(1).padStart(7)}  ${file}`);
  const rest = cpuTime() - rows.reduce((sum, { cpu }) => sum + cpu, 0);
  console.log(`${rest.toFixed(1).padStart(7)}          building, a shared PostgreSQL, the search for keys`);
  const wall = (performance.now() - started) / 1000;
  console.log(`CPU time: ${cpuTime().toFixed(0)} s. Wall time: ${wall.toFixed(0)} s.`);
}
