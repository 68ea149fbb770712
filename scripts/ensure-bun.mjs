// Makes sure that node_modules has a working Bun. npm links only a placeholder where install scripts
// are switched off; Bun's own install script then puts the binary in place, without the network.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** Where npm has put Bun: in this folder's node_modules or, for an installed package, in the one that holds the package. */
const folders = createRequire(import.meta.url).resolve.paths("bun") ?? [];
const modules = folders.find((folder) => existsSync(join(folder, "bun"))) ?? folders[0];

/** The executable itself (named so on every platform), because `node_modules/.bin` has only a shell script on Windows. */
export const bun = join(modules, "bun/bin/bun.exe");

const missing = "Bun is not installed.";

/** Repairs Bun if it does not work. Ends the process with a clear line if that does not help. */
export function ensureBun() {
  if (works()) return;
  const cwd = join(modules, "bun");
  if (existsSync(cwd)) {
    if (!isWritable(join(cwd, "bin")))
      fail(`${missing} Run once as the owner of that folder: cd ${cwd} && node install.js`);
    spawnSync(process.execPath, ["install.js"], { cwd, stdio: "inherit" });
  }
  if (works()) return;
  fail(`${missing} Run: npm ci`);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function works() {
  const { status, error } = spawnSync(bun, ["--version"], { stdio: "ignore" });
  if (error?.code === "EACCES" && isExecutable()) {
    fail(`This user may not execute ${bun}. Check its permissions, and that its disk is not mounted with noexec.`);
  }
  return status === 0;
}

/** True if its file is marked as a program. */
function isExecutable() {
  return ((statSync(bun, { throwIfNoEntry: false })?.mode ?? 0) & 0o111) !== 0;
}
