import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { buildProgram } from "./build-program.ts";

const root = join(import.meta.dir, "../..");
/** Files of the package in addition to the program. */
const parts = [
  "scripts/ensure-bun.mjs",
  "scripts/petstore.mjs",
  "scripts/run.mjs",
  "CHANGELOG.md",
  "LICENSE",
  "README.md",
];

/**
 * Packs the service into a folder: `npx ./petstore-VERSION.tgz serve` runs it. The program is one script, because Bun
 * does not run macros of installed packages. The package needs only Bun. Returns the name of the file.
 */
export function packService(target: string): string {
  const folder = mkdtempSync(join(tmpdir(), "petstore-package-"));
  try {
    buildScript(join(folder, "dist"));
    for (const part of parts) cpSync(join(root, part), join(folder, part));
    const { name, version, description, keywords, license, author, type, engines, bin } = manifest;
    const dependencies = { bun: manifest.dependencies.bun };
    const own = { name, version, description, keywords, license, author, type, engines, bin, dependencies };
    writeFileSync(join(folder, "package.json"), `${JSON.stringify(own, undefined, 2)}\n`);
    call("npm", ["pack", "--silent", "--pack-destination", target], folder);
    return `${name}-${version}.tgz`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Builds the program as one script, `main.js`, with its assets beside it. */
export function buildScript(target: string): void {
  buildProgram(["--target=bun", "--outdir", target]);
}

function call(command: string, args: readonly string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${error?.message ?? stderr}`);
}
