import { readFileSync } from "node:fs";
import { buildProgram } from "./build-program.ts";
import { inspectExecutable } from "./inspect-executable.ts";

/** True if executables for this platform, by Bun's name, run on this machine. */
export function runsHere(platform: string): boolean {
  return platform === `${process.platform}-${process.arch}` && (process.platform !== "linux" || isGlibc());
}

/** True if this machine uses glibc: npm installs the build of Bun for the C library of the machine. */
function isGlibc(): boolean {
  return inspectExecutable(readFileSync(process.execPath)).libc === "glibc";
}

/**
 * Builds the service as one executable, for this machine or another platform by Bun's name. Bytecode makes it start in
 * half the time. Executables for other platforms have none: it depends on the platform that built it, and executables
 * with the bytecode of another platform have crashed (oven-sh/bun, issue 18416).
 */
export function buildExecutable(file: string, platform?: string): void {
  // Without autoload: the settings of the service do not come from files that Bun finds in the folder.
  const autoload = ["--no-compile-autoload-dotenv", "--no-compile-autoload-bunfig"];
  const form =
    platform === undefined || runsHere(platform) ? ["--bytecode", "--format=esm"] : [`--target=bun-${platform}`];
  buildProgram(["--compile", "--sourcemap", "--outfile", file, ...autoload, ...form]);
}
