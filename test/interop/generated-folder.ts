import { cpSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { interopFolder } from "../harness/interop-tools.ts";

/**
 * Makes a folder with `openapi.json`, the clients that the tools generate from it in `generated/`, and the modules that
 * use them in `clients/`. The caller removes it.
 */
export async function generateClients(document: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-clients-"));
  const file = join(folder, "openapi.json");
  writeFileSync(file, document);
  mkdirSync(join(folder, "generated"));
  cpSync(join(interopFolder, "clients"), join(folder, "clients"), { recursive: true });
  symlinkSync(join(interopFolder, "node_modules"), join(folder, "node_modules"));
  await runIn(folder, ["node", join(interopFolder, "generate.mjs"), file, join(folder, "generated")]);
  return folder;
}

/** Runs a command in a folder and returns its output. Throws if the command fails, unless it may. */
export async function runIn(folder: string, command: string[], mayFail = false): Promise<string> {
  const child = Bun.spawn(command, { cwd: folder, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (status !== 0 && !mayFail) throw new Error(`${command.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}
