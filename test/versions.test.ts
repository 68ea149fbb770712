import { expect, test } from "bun:test";
import manifest from "../package.json" with { type: "json" };
import { versionFaults } from "../scripts/release/versions.ts";
import { newDataDir, runCommand } from "./harness/program.ts";

test("package.json, the client, the changelog and --version agree", async () => {
  expect(versionFaults()).toEqual([]);
  expect((await runCommand(newDataDir(), ["--version"])).stdout).toBe(`petstore ${manifest.version}\n`);
});

test("a changelog without a date for the version, or with a newer release, is reported", () => {
  for (const heading of [`## [${manifest.version}]`, "## [Unreleased]", "## [9.0.0] - 2026-11-22"])
    expect(versionFaults(`${heading}\n\n## [0.9.0] - 2026-01-02\n`)).toEqual([expect.stringContaining("CHANGELOG.md")]);
  for (const date of ["2026-11-22", "unreleased"])
    expect(versionFaults(`## [${manifest.version}] - ${date}\n\n## [0.9.0] - 2026-01-02\n`)).toEqual([]);
});
