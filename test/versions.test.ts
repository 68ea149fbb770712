import { expect, test } from "bun:test";
import manifest from "../package.json" with { type: "json" };
import { versionFaults } from "../scripts/release/versions.ts";
import { newDataDir, runCommand } from "./harness/program.ts";

test("package.json, the client, the changelog and --version agree", async () => {
  expect(versionFaults({ isRelease: false })).toEqual([]);
  expect((await runCommand(newDataDir(), ["--version"])).stdout).toBe(`petstore ${manifest.version}\n`);
});
