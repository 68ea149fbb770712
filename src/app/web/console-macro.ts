import { join } from "node:path";
import type { ConsoleFile } from "./build-console.ts";

/** The files of the console. A macro. A separate process builds them: a bundler inside the bundler would deadlock. */
export function builtConsole(): ConsoleFile[] {
  const script = join(import.meta.dir, "../../../scripts/print-console.ts");
  const { success, stdout, stderr } = Bun.spawnSync([process.execPath, script]);
  if (!success) throw new Error(`The console cannot be built: ${stderr}`);
  return JSON.parse(stdout.toString()) as ConsoleFile[];
}
