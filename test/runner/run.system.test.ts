import { expect, test } from "bun:test";
import { join } from "node:path";

/** Runs controls of this folder, without the program that the tests of others need. */
function runControls(...names: string[]) {
  const files = names.map((name) => `test/runner/controls/${name}.ts`);
  const { stdout, exitCode } = Bun.spawnSync([process.execPath, "test/runner/run.ts", "embedded", ...files], {
    cwd: join(import.meta.dir, "../.."),
    env: { ...process.env, TEST_PROGRAM: process.execPath },
  });
  return { exitCode, lines: stdout.toString().trimEnd().split("\n") };
}

test("a run names each test that failed and each file that ran none, counts the others, and lists their times", () => {
  const { exitCode, lines } = runControls("failing", "unloadable");
  expect(exitCode).toBe(1);
  expect(lines.slice(-3)).toEqual([
    "Failed: test/runner/controls/failing.ts: fails <here>",
    "Failed: test/runner/controls/unloadable.ts: it ran no test",
    "1 passed, 2 failed, 1 skipped",
  ]);
  expect(lines).toContainEqual(expect.stringMatching(/^ +\d+\.\d +\d+\.\d {2}test\/runner\/controls\/failing\.ts$/));
});

test("a run fails if there was an error outside its tests", () => {
  const { exitCode, lines } = runControls("outside");
  expect([exitCode, ...lines.slice(-2)]).toEqual([1, "Failed: see the output above", "1 passed, 1 failed"]);
});
