import { existsSync, statSync } from "node:fs";
import { join } from "node:path";

/** The folder of the tools of others that the service is tested with. */
export const interopFolder = join(import.meta.dir, "../interop");

/** True if the tools are installed as their lock file says. */
export function areInteropToolsInstalled(): boolean {
  const installed = join(interopFolder, "node_modules/.package-lock.json");
  const lock = join(interopFolder, "package-lock.json");
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs;
}

/** Installs the tools unless they are there. False without a registry: tests that need them are then skipped. */
export function hasInteropTools(): boolean {
  if (areInteropToolsInstalled()) return true;
  return Bun.spawnSync(["npm", "ci"], { cwd: interopFolder, stdout: "ignore", stderr: "inherit" }).success;
}
