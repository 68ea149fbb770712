import { existsSync, readFileSync } from "node:fs";
import { normalize } from "node:path";

/** The result of a run of tests. */
export interface Result {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Each failure: where it is, and the runner's message. */
  readonly failures: readonly string[];
  /** The files of the failed tests. */
  readonly failedFiles: readonly string[];
  /** The files of the skipped tests. */
  readonly skippedFiles: readonly string[];
  /** Each failure that did not happen again when its file ran a second time. */
  readonly flaky: readonly string[];
  /** How long the tests of each file took, in seconds. */
  readonly seconds: ReadonlyMap<string, number>;
  /** The CPU time of each file with its services and its browser, in seconds. It depends little on other load. */
  readonly cpuSeconds: ReadonlyMap<string, number>;
}

/** How many files are listed as the slowest. */
const SLOWEST = 8;

/**
 * Reads the JUnit report of a run of these files, and the file with its CPU times. Bun leaves a file out that it could
 * not load, so each file without a test counts as one failure. So does a run that failed outside all tests, or left no
 * report.
 */
export function readReport(
  file: string,
  status: number | null,
  files: readonly string[],
  cpuTimesFile?: string,
): Result {
  const xml = existsSync(file) ? readFileSync(file, "utf8") : "";
  const [, attributes = ""] = /<testsuites ([^>]*)>/.exec(xml) ?? [];
  const figure = (name: string) => Number(new RegExp(`\\b${name}="([0-9]+)"`).exec(attributes)?.[1] ?? 0);
  const [tests, failures, skipped] = [figure("tests"), figure("failures"), figure("skipped")];
  const seconds = secondsOf(xml);
  const missing = files.map((one) => normalize(one)).filter((one) => !seconds.has(one));
  const failed = Math.max(failures + missing.length, status === 0 && tests > 0 ? 0 : 1);
  return {
    passed: Math.max(0, tests - failures - skipped),
    failed,
    skipped,
    failures: [...failuresOf(xml), ...missing.map((one) => `Failed: ${one}: It ran no test. See the output above.`)],
    failedFiles: [...filesWith(xml, "failure"), ...missing],
    skippedFiles: filesWith(xml, "skipped"),
    flaky: [],
    seconds,
    cpuSeconds: cpuTimesFile !== undefined && existsSync(cpuTimesFile) ? cpuTimes(cpuTimesFile) : new Map(),
  };
}

/** The result of a run without tests, because the machine cannot run this many groups of them. */
export function nothingRun(skipped: number): Result {
  return {
    passed: 0,
    failed: 0,
    skipped,
    failures: [],
    failedFiles: [],
    skippedFiles: [],
    flaky: [],
    seconds: new Map(),
    cpuSeconds: new Map(),
  };
}

/** The result of a run whose files with failures ran a second time: only what failed again counts as failed. */
export function afterSecondRun(first: Result, second: Result): Result {
  return {
    ...first,
    passed: first.passed + first.failed - second.failed,
    failed: second.failed,
    failures: second.failures,
    failedFiles: second.failedFiles,
    flaky: first.failures.filter((failure) => !second.failures.some((other) => titleOf(other) === titleOf(failure))),
  };
}

/** The sum of several results. */
export function sum(results: readonly Result[]): Result {
  const total = (name: "passed" | "failed" | "skipped") => results.reduce((all, one) => all + one[name], 0);
  return {
    passed: total("passed"),
    failed: total("failed"),
    skipped: total("skipped"),
    failures: results.flatMap(({ failures }) => failures),
    failedFiles: results.flatMap(({ failedFiles }) => failedFiles),
    skippedFiles: results.flatMap(({ skippedFiles }) => skippedFiles),
    flaky: results.flatMap(({ flaky }) => flaky),
    seconds: added(results.map(({ seconds }) => seconds)),
    cpuSeconds: added(results.map(({ cpuSeconds }) => cpuSeconds)),
  };
}

/** Lines that name the files that took longest, while others ran in parallel, and those that used most CPU time. */
export function slowestLines({ seconds, cpuSeconds }: Result): string[] {
  const total = [...cpuSeconds.values()].reduce((all, one) => all + one, 0);
  return [`Slowest: ${largest(seconds)}.`, `CPU time: ${Math.round(total)} s, most for ${largest(cpuSeconds)}.`];
}

function largest(seconds: ReadonlyMap<string, number>): string {
  const files = [...seconds].toSorted(([, one], [, other]) => other - one).slice(0, SLOWEST);
  return files.map(([file, time]) => `${file} ${Math.round(time)} s`).join(", ");
}

/** The closing line: `N passed, N failed`, and `, N skipped` if the machine lacks something. */
export function closingLine({ passed, failed, skipped }: Result): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

function secondsOf(xml: string): Map<string, number> {
  const seconds = new Map<string, number>();
  for (const [, attributes = ""] of xml.matchAll(/<testcase ([^>]*)>/g)) {
    const file = unescaped(attribute(attributes, "file"));
    seconds.set(file, (seconds.get(file) ?? 0) + Number(attribute(attributes, "time")));
  }
  return seconds;
}

/** The CPU time of each file: the difference to the file before it in the same process, in seconds. */
function cpuTimes(file: string): Map<string, number> {
  const before = new Map<number, number>();
  const times = new Map<string, number>();
  for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
    const one = JSON.parse(line) as { pid: number; file: string; seconds: number };
    times.set(one.file, one.seconds - (before.get(one.pid) ?? 0));
    before.set(one.pid, one.seconds);
  }
  return times;
}

/** The sums of several maps. */
function added(maps: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [name, value] of maps.flatMap((one) => [...one])) sums.set(name, (sums.get(name) ?? 0) + value);
  return sums;
}

/** The line of a failure that names its file and test. */
const titleOf = (failure: string) => failure.split("\n", 1)[0];

/** The files that have a test with this result. */
function filesWith(xml: string, result: "failure" | "skipped"): string[] {
  const found = [...xml.matchAll(new RegExp(`<testcase ([^>]*)>\\s*<${result} `, "g"))];
  return [...new Set(found.map(([, attributes = ""]) => unescaped(attribute(attributes, "file"))))];
}

function failuresOf(xml: string): string[] {
  return [...xml.matchAll(/<testcase ([^>]*)>\s*<failure ([^>]*)>/g)].map(([, attributes = "", failure = ""]) => {
    const [name, group, file] = ["name", "classname", "file"].map((key) => unescaped(attribute(attributes, key)));
    const message = unescaped(attribute(failure, "message")).trim();
    return `Failed: ${file}: ${group === "" ? "" : `${group} > `}${name}\n${message.replaceAll(/^/gm, "    ")}`;
  });
}

function attribute(text: string, name: string): string {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? "";
}

/** The value of an attribute with its entities replaced. */
function unescaped(text: string): string {
  const signs: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&", "#10": "\n" };
  return text.replaceAll(/&([a-z]+|#10);/g, (all, name: string) => signs[name] ?? all);
}
