import { join } from "node:path";

/** What starts the service on a store that breaks its promise in the given way. */
export function controlCommand(fault: "early" | "piecemeal" | "off" | "normal"): readonly string[] {
  return [process.execPath, join(import.meta.dir, "serve.ts"), fault];
}
