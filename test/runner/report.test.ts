import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterSecondRun, closingLine, readReport, slowestLines, sum } from "./report.ts";

/** The result of a run with these tests of `a.test.ts`, by name, and whether each passed. */
function resultOf(tests: Record<string, boolean>, files = ["a.test.ts"], status?: number) {
  const folder = mkdtempSync(join(tmpdir(), "petstore-report-"));
  const names = Object.keys(tests);
  const failures = names.filter((name) => !tests[name]);
  const cases = names.map((name) => {
    const failure = tests[name] ? "" : `<failure type="AssertionError" message="${name} is &lt;wrong&gt;"></failure>`;
    return `<testcase name="${name}" classname="" time="0.5" file="a.test.ts">${failure}</testcase>`;
  });
  const attributes = `tests="${names.length}" failures="${failures.length}" skipped="0"`;
  writeFileSync(join(folder, "report.xml"), `<testsuites ${attributes}>${cases.join("\n")}</testsuites>`);
  const result = readReport(join(folder, "report.xml"), status ?? (failures.length > 0 ? 1 : 0), files);
  rmSync(folder, { recursive: true });
  return result;
}

test("the report names a failure with its file and message", () => {
  const result = resultOf({ one: true, two: false });
  expect(closingLine(result)).toBe("1 passed, 1 failed");
  expect(result.failures).toEqual(["Failed: a.test.ts: two\n    two is <wrong>"]);
  expect(result.failedFiles).toEqual(["a.test.ts"]);
  expect(result.seconds.get("a.test.ts")).toBe(1);
});

test("a run fails if it left no report, or failed outside a test", () => {
  expect(readReport("/nowhere.xml", 0, ["a.test.ts"]).failed).toBe(1);
  expect(resultOf({ one: true }).failed).toBe(0);
  expect(resultOf({ one: true }, ["a.test.ts"], 1).failed).toBe(1);
  expect(resultOf({ one: true }, ["a.test.ts", "b.test.ts"]).failures).toEqual([
    "Failed: b.test.ts: It ran no test. See the output above.",
  ]);
});

test("a file that is not in the report has failed, whatever else failed, and runs again", () => {
  const files = ["./a.test.ts", "b.test.ts"];
  const first = resultOf({ one: true, two: false }, files);
  expect(closingLine(first)).toBe("1 passed, 2 failed");
  expect(first.failedFiles).toEqual(["a.test.ts", "b.test.ts"]);
  const again = afterSecondRun(first, resultOf({ one: true, two: true }, files, 1));
  expect(closingLine(again)).toBe("2 passed, 1 failed");
  expect(again.failures).toEqual(["Failed: b.test.ts: It ran no test. See the output above."]);
  expect(again.flaky).toEqual(["Failed: a.test.ts: two\n    two is <wrong>"]);
});

test("after a second run, a test that failed twice has failed, and the others are flaky", () => {
  const first = resultOf({ one: true, two: false, three: false });
  const second = resultOf({ one: true, two: true, three: false });
  const both = afterSecondRun(first, second);
  expect(closingLine(both)).toBe("2 passed, 1 failed");
  expect(both.failures).toEqual(["Failed: a.test.ts: three\n    three is <wrong>"]);
  expect(both.flaky).toEqual(["Failed: a.test.ts: two\n    two is <wrong>"]);
  const repaired = afterSecondRun(first, resultOf({ one: true, two: true, three: true }));
  expect(closingLine(repaired)).toBe("3 passed, 0 failed");
  expect(repaired.flaky).toHaveLength(2);
});

test("the files with skipped tests are known", () => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-report-"));
  const [passed, skipped] = ["a", "b"].map((name) => `<testcase name="one" file="${name}.test.ts">`);
  writeFileSync(join(folder, "report.xml"), `${passed}</testcase>\n${skipped}\n  <skipped />\n</testcase>`);
  expect(readReport(join(folder, "report.xml"), 0, []).skippedFiles).toEqual(["b.test.ts"]);
  rmSync(folder, { recursive: true });
});

test("the run fails if its second run crashes", () => {
  const crashed = afterSecondRun(resultOf({ one: false }), readReport("/nowhere.xml", 1, ["a.test.ts"]));
  expect(crashed.failed).toBe(1);
});

test("the CPU time of a file is what its process used since the file before", () => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-report-"));
  const times = join(folder, "cpu-times");
  const lines = [
    { pid: 1, file: "a.test.ts", seconds: 2 },
    { pid: 2, file: "b.test.ts", seconds: 5 },
    { pid: 1, file: "c.test.ts", seconds: 9 },
  ];
  writeFileSync(times, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const result = readReport("/nowhere.xml", 0, [], times);
  expect(Object.fromEntries(result.cpuSeconds)).toEqual({ "a.test.ts": 2, "b.test.ts": 5, "c.test.ts": 7 });
  expect(slowestLines(sum([result, result])).at(-1)).toBe(
    "CPU time: 28 s, most for c.test.ts 14 s, b.test.ts 10 s, a.test.ts 4 s.",
  );
  rmSync(folder, { recursive: true });
});
