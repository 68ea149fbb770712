import { readFileSync } from "node:fs";
import { join } from "node:path";
import { version as programVersion } from "../../src/telemetry/version.ts";

const root = join(import.meta.dir, "../..");

/** The newest release that the changelog has; undefined where it has none. */
function changelogVersion(): string | undefined {
  const text = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  return /^## \[(\d[^\]]*)\] - \d{4}-\d\d-\d\d$/m.exec(text)?.[1];
}

function versionIn(folder: string): string {
  return (JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as { version: string }).version;
}

/** Where versions contradict each other, a line for each. A changelog without a dated release is a fault for a release only. */
export function versionFaults({ isRelease }: { readonly isRelease: boolean }): string[] {
  const [version, client] = [versionIn("."), versionIn("client")];
  const released = changelogVersion();
  return [
    ...(programVersion === version ? [] : [`--version is ${programVersion}, package.json has ${version}.`]),
    ...(client === version ? [] : [`The client has ${client}, package.json has ${version}.`]),
    ...(released === undefined
      ? isRelease
        ? [`CHANGELOG.md has no line "## [${version}] - YYYY-MM-DD".`]
        : []
      : released === version
        ? []
        : [`The newest release in CHANGELOG.md is ${released}, package.json has ${version}.`]),
  ];
}
