import { join } from "node:path";

/**
 * The command that starts the service on a store that breaks its promise in the given way. With `off` and `normal`,
 * nobody syncs the log, and SQLite has this value of `synchronous`.
 */
export function controlCommand(fault: "early" | "piecemeal" | "off" | "normal"): readonly string[] {
  return [process.execPath, join(import.meta.dir, "serve.ts"), fault];
}
