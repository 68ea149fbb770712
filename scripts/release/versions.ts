import { readFileSync } from "node:fs";
import { join } from "node:path";
import { version as programVersion } from "../../src/telemetry/version.ts";

const root = join(import.meta.dir, "../..");

const versionIn = (folder: string): string =>
  (JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as { version: string }).version;

/** One line for each contradiction between versions. */
export function versionFaults(changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8")): string[] {
  const [version, client] = [versionIn("."), versionIn("client")];
  const newest = /^## \[(\d[^\]]*)\] - (?:\d{4}-\d\d-\d\d|unreleased)$/m.exec(changelog)?.[1];
  return [
    ...(programVersion === version ? [] : [`--version is ${programVersion}, package.json has ${version}.`]),
    ...(client === version ? [] : [`The client has ${client}, package.json has ${version}.`]),
    ...(newest === version
      ? []
      : [`The newest version in CHANGELOG.md is ${newest ?? "missing"}, package.json has ${version}.`]),
  ];
}
