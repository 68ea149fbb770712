import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dir, "../../../client");
const list = (name: string) => readdirSync(join(folder, name)).map((file) => `${name}/${file}`);

/** The files of the client's package, by path, in the same order everywhere. Also a macro, for a built program. */
export function clientSources(): Record<string, string> {
  const files = ["package.json", "README.md", "LICENSE", ...list("src"), ...list("types")].toSorted();
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
}
