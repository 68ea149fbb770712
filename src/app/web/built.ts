import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathNotFound } from "../../contract/errors.ts";
import type { WebContent } from "../../http/response/web-content.ts";

/**
 * True in the one-file executable and in the script of the npm package (`scripts/release`): both contain the console,
 * and a contract that was checked.
 */
export const isBuilt = !import.meta.path.endsWith(".ts");

const modules = join(import.meta.dir, "../../../node_modules");

/** True if the packages that pages are built from are not there, as after `npm ci --omit=dev`. A built program needs none. */
export const arePagesMissing =
  !isBuilt && !["preact", "@scalar/api-reference"].every((name) => existsSync(join(modules, name)));

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
const list = (name: string) => readdirSync(join(client, name)).map((file) => `${name}/${file}`);

/** The files of the client's package, by path, in the same order everywhere. Also a macro, for a built program. */
export function clientSources(): Record<string, string> {
  const files = ["package.json", "README.md", "LICENSE", ...list("src"), ...list("types")].toSorted();
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(client, file), "utf8")]));
}
