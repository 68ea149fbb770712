import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export const sourceRoot = join(import.meta.dir, "../../src");
export const sourceFiles = readdirSync(sourceRoot, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".ts"),
);

/** What a file imports: files by their path from `root`, packages by name, even if one of their files is imported by path. */
export function importsOf(file: string, root = sourceRoot): string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/(?:^(?:import|export)\b[^;]*?from |\bawait import\()"([^"]+)"/gm)].map(([, name = ""]) =>
    name.startsWith(".") && !name.includes("/node_modules/")
      ? relative(root, join(root, dirname(file), name))
      : name.replace(/^.*\/node_modules\//, ""),
  );
}

/** The files of the program: all that main.ts reaches. Tests are not among them. */
export const program = reachableFrom("main.ts");

function reachableFrom(start: string): string[] {
  const found = new Set([start]);
  for (const file of found) {
    for (const name of importsOf(file))
      if (/^[^.].*\.ts$/.test(name) && existsSync(join(sourceRoot, name))) found.add(name);
  }
  return [...found];
}

/** Small modules that any part may use. How names are compared lies outside src/, because the console knows it, too. */
export const leaves =
  /^(collections|timing|telemetry)\/|^contract\/(caller|known-keys|messages|steps)\.ts$|^\.\.\/csv\/name-key\.ts$/;

/** The folder of src/ that a file is in; for a file at the root of src/, its name. */
const folderOf = (file: string) => file.replace(/[/.].*$/, "");

/** Which folders of src/ each folder imports. A file at the root of src/ counts as a folder. Leaves out `leaves`. */
export function folderImports(): ReadonlyMap<string, readonly string[]> {
  const importing = Map.groupBy(
    program.filter((file) => !leaves.test(file)),
    folderOf,
  );
  return new Map(
    [...importing].map(([folder, files]) => {
      const imported = files
        .flatMap((file) => importsOf(file))
        .filter((name) => program.includes(name) && !leaves.test(name))
        .map(folderOf);
      return [folder, [...new Set(imported)].filter((name) => name !== folder).toSorted()];
    }),
  );
}
