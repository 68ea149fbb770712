import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Program } from "../harness/program.ts";

const root = join(import.meta.dir, "../..");

/** Builds the one-file executable as a reader does, but into a new folder. Gives that folder, which holds nothing else. */
export async function buildExecutable(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-executable-"));
  const target = join(folder, "petstore");
  const build = Bun.spawn(["npm", "run", "--silent", "build", "--", "--outfile", target], {
    cwd: root,
    stdout: "ignore",
    stderr: "pipe",
  });
  const said = await new Response(build.stderr).text();
  if ((await build.exited) !== 0) throw new Error(`The executable was not built: ${said}`);
  return folder;
}

/** An executable: the one of this run of the tests, or a new one. */
export async function anyExecutable(): Promise<string> {
  return process.env["TEST_PROGRAM"] ?? join(await buildExecutable(), "petstore");
}

/** The executable run in its folder, without a setting for its store. */
export function inFolder(folder: string, ...words: string[]): string[] {
  return ["env", "-C", folder, "-u", "PETSTORE_DATA_DIR", "./petstore", ...words];
}

/**
 * The same where nothing but the data folder can be written, neither the rest of the disk nor its folders for
 * temporary files.
 */
export function onReadOnlyRoot(folder: string, ...words: string[]): string[] {
  const data = join(folder, "data");
  mkdirSync(data);
  const mount =
    'mount --bind "$0" "$0" && mount -o remount,bind,ro / && ! touch "$0/../written" 2>/dev/null && exec "$@"';
  return ["unshare", "-rm", "sh", "-c", mount, data, ...inFolder(folder, ...words)];
}

/** Starts the service from such a command. */
export function startFrom(
  folder: string,
  command: readonly string[],
  settings: Record<string, string> = {},
): Promise<Program> {
  return Program.start(join(folder, "data"), settings, command);
}
