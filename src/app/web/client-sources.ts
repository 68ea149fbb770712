import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dir, "../../../client");
const list = (name: string) => readdirSync(join(folder, name)).map((file) => `${name}/${file}`);

/** The files of the client's package, by path. A macro: they become part of the one-file executable. */
export function clientSources(): Record<string, string> {
  const files = ["package.json", "README.md", "LICENSE", ...list("src"), ...list("types")];
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
}
