import { expect, test } from "bun:test";
import { join } from "node:path";
import { isLongRun } from "../harness/test-length.ts";
import { isFlooding, slowest, type Tier, testFiles, tiers, tiersOf, timings, withoutStore } from "./tiers.ts";

const root = join(import.meta.dir, "../..");
const read = (file: string) => Bun.file(join(root, file)).text();

test("each test file runs in at least one tier", () => {
  const files = testFiles(root);
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => tiersOf(file).length === 0)).toEqual([]);
});

test("files of long runs only are left out of a short run", () => {
  const files = testFiles(root);
  expect(files.includes("test/attack/heap.long.test.ts")).toBe(isLongRun);
  expect(files.includes("test/attack/burst.test.ts")).toBe(true);
});

test("the files that run on one engine use no store", async () => {
  for (const file of withoutStore) {
    expect([file, tiersOf(file)]).toEqual([file, ["embedded"]]);
    const used = (await read(file)).match(/harness\/(service|test-store|webhook-service|console|program|commands)\b/g);
    expect([file, used]).toEqual([file, null]);
  }
});

test("the files that run alone are those that flood, and run on one engine", () => {
  const files = testFiles(root).filter(isFlooding);
  expect(files).toContain("test/overload/fairness.test.ts");
  expect(files).toContain("test/torture/limit-bursts.test.ts");
  expect(files.filter((file) => tiersOf(file).join() !== "system")).toEqual([]);
});

test("each tier has its npm command, and CI runs all", async () => {
  const { scripts } = JSON.parse(await read("package.json"));
  for (const tier of Object.keys(tiers) as Tier[]) {
    const name = tiers[tier].command.replace(/^npm (run )?/, "");
    expect(scripts[name], tiers[tier].command).toEndWith(`test/runner/run.ts ${tier}`);
  }
  expect(scripts["test:all"]).toEndWith("test/runner/run.ts all");
  expect(await read(".ci/run")).toEndWith("\nnpm run --silent test:all\n");
});

test("the files that start first exist", () => {
  const files = testFiles(root);
  const { files: times } = JSON.parse(timings(files)) as { files: Record<string, number> };
  expect(Object.values(times).filter((time) => time > 1)).toHaveLength(slowest.length);
});
