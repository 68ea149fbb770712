import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathNotFound } from "../../contract/errors.ts";
import type { WebContent } from "../../http/response/web-content.ts";

/**
 * True in the one-file executable and in the script of the npm package (`scripts/release`): both contain the console,
 * and a contract that was checked.
 */
export const isBuilt = !import.meta.path.endsWith(".ts");

const modules = join(import.meta.dir, "../../../node_modules");

/** True if the packages that pages and the client are built from are not there, as after `npm ci --omit=dev`. A built program needs none. */
export const arePagesMissing =
  !isBuilt && !["preact", "@scalar/api-reference", "typescript"].every((name) => existsSync(join(modules, name)));

/** What is there instead of a page. */
export const missingPage: WebContent = {
  type: "application/json",
  content: () => {
    const { code, status } = pathNotFound;
    const message = "This page needs packages that are not installed. Run npm ci without --omit=dev, or use a release.";
    return { body: JSON.stringify({ code, message, status }), status };
  },
};

const client = join(import.meta.dir, "../../../client");
const read = (folder: string, files: readonly string[]) =>
  files.toSorted().map((file) => [file, readFileSync(join(folder, file), "utf8")] as const);

/** The files of the client, by path, in the same order everywhere. Also a macro, for a built program. */
export function clientSources(): Record<string, string> {
  const sources = readdirSync(join(client, "src")).map((file) => `src/${file}`);
  return Object.fromEntries(read(client, ["package.json", "README.md", "LICENSE", ...sources]));
}

/** The type declarations of the client, by path. They take the compiler about a second. Also a macro. */
export async function clientTypes(): Promise<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-types-"));
  try {
    const emit = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--outDir", folder];
    const compiler = Bun.spawn([join(modules, ".bin/tsc"), "-p", client, ...emit], { stdout: "pipe" });
    const said = await compiler.stdout.text();
    if ((await compiler.exited) !== 0) throw new Error(`The client does not compile:\n${said}`);
    const declarations = read(folder, readdirSync(folder));
    return Object.fromEntries(
      declarations.map(([file, text]) => [
        `types/${file}`,
        text.replaceAll(/ from "(\.\/[\w-]+)\.ts"/g, ' from "$1.js"'),
      ]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
