// Runs the tests of one tier or of all, or the files that the arguments name, with `bun test`. It builds the executable
// and starts PostgreSQL once, searches what services say for keys, and ends with `N passed, N failed[, N skipped]`:
// bun test/runner/run.ts embedded|engines|system|all [--table] [--fresh] [FILE…]
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Glob } from "bun";
import { buildExecutable } from "../../scripts/release/executable.ts";
import { roomAt } from "../../src/files/room.ts";
import { hasInteropTools, needsInteropTools, passedState } from "../harness/interop-tools.ts";
import { postgresMissing, programs } from "../harness/postgres-server.ts";
import { SharedPostgres } from "../harness/shared-postgres.ts";
import { isLongRun, testTimeout } from "../harness/test-length.ts";
import { searchEvidence } from "../leaks/search.ts";
import { ownCpuTime } from "./cpu-time.ts";
import { whatIsMissing } from "./missing-tools.ts";

const cpuTime = ownCpuTime();
/** The kinds of files that run in each tier: the word before `.test.ts`, or none. Later ones take longer. */
const tiers: Record<string, string[]> = {
  embedded: ["", "both"],
  engines: ["both", "engines"],
  system: ["tools", "system", "alone"],
};
const allKinds = (tiers["all"] = Object.values(tiers).flat());
const kindOf = (file: string) => /\.(both|engines|system|tools|alone)\.test\.tsx?$/.exec(file)?.[1] ?? "";
const column = (seconds: number) => seconds.toFixed(1).padStart(7);

const options = { table: { type: "boolean" }, fresh: { type: "boolean" } } as const;
const { positionals, values } = parseArgs({ allowPositionals: true, options });
const [tier = "", ...words] = positionals;
const kinds = tiers[tier] ?? [];
if (kinds.length === 0) throw new Error(`There is no tier ${tier}; there are ${Object.keys(tiers).join(", ")}.`);
/**
 * Most tests wait for a process or a disk, so more files run than there are cores. The first tier seldom waits, and each
 * process that runs its files loads and compiles the service again.
 */
const filesPerCore = tier === "embedded" && words.length === 0 ? 1 : 2;
const PARALLEL = Number(process.env["TEST_PARALLEL"] ?? filesPerCore * availableParallelism());

/** Everything that a run leaves behind, so that it can be removed: reports, and the stores of killed services. */
const folder = mkdtempSync(join(tmpdir(), "petstore-tests-"));
/** The files of PostgreSQL servers, up to 3 GB, and of the first tier: in memory, as some disks need much CPU time. */
const shared = "/dev/shm"; // a container's may have 64 MB
const hasMemory = freemem() > 8e9 && existsSync(shared) && roomAt(shared).bytes > 4e9;
const inMemory = mkdtempSync(join(hasMemory ? shared : folder, "petstore-tests-"));
for (const one of [folder, inMemory]) chmodSync(one, 0o711); // PostgreSQL does not run as root
/** The executable under test. A run that is a part of a test uses the one of the outer run. */
const program = process.env["TEST_PROGRAM"] ?? join(folder, "petstore");
const times = join(folder, "times");
Object.assign(process.env, {
  ...(postgresMissing === undefined && { TEST_POSTGRES_BIN: programs() }), // found once for all
  TEST_POSTGRES_FOLDER: inMemory,
  TEST_POSTGRES_CLUSTER: join(inMemory, "cluster"),
  TEST_PROGRAM: program,
  TEST_TIMES: times,
});
let passed = 0;
const failures: string[] = [];
const skips: string[] = []; // the file of each skipped test
try {
  if (!existsSync(program)) buildExecutable(program);
  await runChosen();
  if (skips.length > 0) for (const line of await whatIsMissing(skips)) console.log(line);
  printTimes();
  for (const failure of failures) console.log(failure);
  console.log(`${passed} passed, ${failures.length} failed${skips.length > 0 ? `, ${skips.length} skipped` : ""}`);
  process.exitCode = failures.length > 0 ? 1 : 0;
} finally {
  for (const one of [inMemory, folder]) rmSync(one, { recursive: true, force: true });
  cpuTime.leave();
}

/** Runs the files of the tier, or those that the arguments name. */
async function runChosen(): Promise<void> {
  const all = [...new Glob("{src,test,client,console}/**/*.test.{ts,tsx}").scanSync()]
    .filter((file) => !file.includes("node_modules/") && (isLongRun || !file.includes(".long.")))
    .toSorted();
  const isNamed = (file: string) => words.some((word) => file.includes(word));
  const isChosen = (file: string) => (words.length === 0 ? kinds.includes(kindOf(file)) : isNamed(file));
  const others = words.filter((word) => word.endsWith(".ts") && !all.includes(word));
  const chosen = [...all.filter(isChosen), ...others];
  if (chosen.length === 0) throw new Error(`No test file matches ${words.join(" ")}.`);

  const tools = all.filter((file) => kindOf(file) === "tools");
  const state = tools.every((file) => chosen.includes(file)) ? passedState(program) : undefined;
  const skipsTools = state?.isKnown && !values.fresh && words.length === 0;
  if (skipsTools) console.log("Third-party tools have passed with this document and client: --fresh runs them again.");
  const files = skipsTools ? chosen.filter((file) => !tools.includes(file)) : chosen;
  if (files.some(needsInteropTools)) hasInteropTools();

  const alone = files.filter((file) => kindOf(file) === "alone");
  const onPostgres = files.filter((file) => kindOf(file) === "both" && kinds.includes("engines"));
  const embedded = files.filter((file) => !alone.includes(file) && (tier === "all" || !onPostgres.includes(file)));
  await runFiles("tests", PARALLEL, embedded);
  if (postgresMissing === undefined && onPostgres.length > 0) {
    await using postgres = await SharedPostgres.start();
    await runFiles("postgres", PARALLEL, onPostgres, { TEST_ENGINE: "postgres", ...postgres.environment });
  } else skips.push(...onPostgres);
  await runFiles("alone", 1, alone);
  const isBad = (file: string) => skips.includes(file) || failures.some((failure) => failure.includes(file));
  if (!tools.some(isBad)) state?.keep();
}

/** Runs files in the same environment, so many at a time, and searches the output of their services. */
async function runFiles(name: string, parallel: number, files: readonly string[], environment = {}): Promise<void> {
  if (files.length === 0) return;
  const isFirst = files.every((file) => ["", "both"].includes(kindOf(file))); // later tiers prove what needs a disk
  const place = isFirst ? inMemory : folder;
  const [report, evidence, temporary] = [join(folder, `${name}.xml`), join(place, name), join(place, `tmp-${name}`)];
  for (const one of [evidence, temporary]) mkdirSync(one, { mode: 0o711 });
  const order = join(folder, `${name}.json`); // Bun starts those with the longest time first: no run ends with one alone
  const ranks = Object.fromEntries(files.map((file) => [file, 1 + allKinds.indexOf(kindOf(file))]));
  writeFileSync(order, JSON.stringify({ version: 1, files: ranks }));
  const how = [`--parallel=${parallel}`, parallel === 1 ? "--isolate" : "--no-isolate", `--timings=${order}`];
  // The timeout of the preload is for the first file of a process only.
  const output = ["--only-failures", "--reporter=junit", `--reporter-outfile=${report}`, `--timeout=${testTimeout}`];
  const command = [process.execPath, "test", ...how, ...output, ...files.map((file) => `./${file}`)];
  const allocator = isFirst && { MIMALLOC_PURGE_DELAY: "-1" }; // it returns no memory: that costs CPU time
  const env = { ...process.env, ...environment, ...allocator, TEST_EVIDENCE: evidence, TMPDIR: temporary };
  takeResults(report, await Bun.spawn(command, { stdio: ["ignore", "inherit", "inherit"], env }).exited, files);
  const { keys, bytes, leaks } = searchEvidence(evidence);
  failures.push(...leaks.map((leak) => `Leak: ${leak}`));
  console.log(`Searched ${(bytes / 1e6).toFixed(1)} MB of output for ${keys} keys: ${leaks.length} leaks.`);
}

/** Takes the results of a run. Bun leaves a file that it cannot load out of its report. */
function takeResults(report: string, status: number, files: readonly string[]): void {
  const before = failures.length;
  const ran = new Set<string>();
  const xml = existsSync(report) ? readFileSync(report, "utf8") : "";
  const cases = xml.matchAll(/<testcase name="([^"]*)"[^>]* file="([^"]*)"[^>]*>\s*(<failure|<skipped)?/g);
  for (const [, name = "", file = "", result] of cases) {
    ran.add(file);
    const test = name.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">");
    if (result === "<failure") failures.push(`Failed: ${file}: ${test}`);
    else if (result === "<skipped") skips.push(file);
    else passed++;
  }
  for (const file of files) if (!ran.has(file)) failures.push(`Failed: ${file}: it ran no test`);
  if (status !== 0 && failures.length === before) failures.push("Failed: see the output above");
}

/** The CPU time of each file with its services and its browser, or of those that used most, and the totals. */
function printTimes(): void {
  const files = existsSync(times) ? readFileSync(times, "utf8").trim().split("\n") : [];
  const rows = files.map((line) => JSON.parse(line) as { file: string; cpu: number; wall: number });
  const sorted = rows.toSorted((one, other) => other.cpu - one.cpu).slice(0, values.table ? rows.length : 8);
  console.log("CPU and wall time in seconds, by file:");
  for (const { file, cpu, wall } of sorted) console.log(`${column(cpu)} ${column(wall)}  ${file}`);
  const rest = cpuTime.seconds() - rows.reduce((sum, { cpu }) => sum + cpu, 0);
  console.log(`${column(rest)}          building, a shared PostgreSQL, the search for keys`);
  console.log(`CPU time: ${cpuTime.seconds().toFixed(0)} s. Wall time: ${(performance.now() / 1000).toFixed(0)} s.`);
}
