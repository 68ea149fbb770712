// Bun runs this program. `scripts/run.mjs`, which Node runs, starts it; the one-file executable contains Bun.
import { join } from "node:path";

/** Tells Bun's allocator, mimalloc, whether it returns unused parts of its pages to the system. */
const RETURNS_UNUSED = "MIMALLOC_PURGE_HOLES";

/** True in the one-file executable, which alone holds files besides its code. */
const isExecutable = Bun.embeddedFiles.length > 0;
const program = isExecutable ? [process.execPath] : [process.execPath, ...process.execArgv, import.meta.path];

if (process.argv[2] === "serve" && process.env[RETURNS_UNUSED] === undefined) keepUnusedMemory();
const { runProgram } = await import("./cli/program.ts");
process.exit(await runProgram({ program, project: join(import.meta.dir, "..") }));

/**
 * Replaces this process by one whose allocator keeps unused memory. After each garbage collection, it would otherwise
 * return memory that the next requests need. Keeping it saves a tenth of their CPU time and takes 30 MB. The allocator
 * reads its settings only when a process starts. The process id stays, and workers inherit the setting.
 */
function keepUnusedMemory(): void {
  if (process.platform === "win32") return; // it has no such call
  try {
    process.execve?.(process.execPath, [...program, ...process.argv.slice(2)], {
      ...process.env,
      [RETURNS_UNUSED]: "0",
    });
  } catch {
    // The system does not allow it. The service then runs with the default.
  }
}
