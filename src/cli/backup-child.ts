import { CommandFailed } from "../terminal/command.ts";
import type { ProgramContext } from "./program-command.ts";

/** Takes a backup in a child process: `petstore backups take`. Rejects with the error output of that process. */
export async function takeBackupInChild(
  { program, environment, config }: Pick<ProgramContext, "program" | "environment" | "config">,
  stop: AbortSignal,
): Promise<void> {
  const child = Bun.spawn([...program, "backups", "take"], {
    env: { ...environment, PETSTORE_DATA_DIR: config.dataDir },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  // Not SIGTERM: the copy is one call to SQLite, during which the process does not handle signals.
  const end = () => child.kill("SIGKILL");
  stop.addEventListener("abort", end);
  try {
    const [status, output] = await Promise.all([child.exited, new Response(child.stderr).text()]);
    if (status !== 0) throw new CommandFailed("backup_failed", output.trim() || `It ended with status ${status}.`);
  } finally {
    stop.removeEventListener("abort", end);
  }
}
