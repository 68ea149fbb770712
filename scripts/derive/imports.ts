import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export const sourceRoot = join(import.meta.dir, "../../src");
export const sourceFiles = readdirSync(sourceRoot, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".ts"),
);

/** What a file imports: files below src/ by path, packages by name, also where a file of theirs is imported by path. */
export function importsOf(file: string): string[] {
  const text = readFileSync(join(sourceRoot, file), "utf8");
  return [...text.matchAll(/^(?:import|export)\b[^;]*?from "([^"]+)"/gm)].map(([, name = ""]) =>
    name.startsWith(".") && !name.includes("/node_modules/")
      ? relative(sourceRoot, join(sourceRoot, dirname(file), name))
      : name.replace(/^.*\/node_modules\//, ""),
  );
}

/** The files that the program consists of: all that main.ts reaches. Tests and their suites are not among them. */
export const program = reachableFrom("main.ts");

function reachableFrom(start: string): string[] {
  const found = new Set([start]);
  for (const file of found) {
    for (const name of importsOf(file)) if (existsSync(join(sourceRoot, name))) found.add(name);
  }
  return [...found];
}

/** Small modules that any part may use. */
export const leaves = /^(timing|telemetry)\/|^contract\/(change|quota|shop-map|suggest)\.ts$|^storage\/recent-map\.ts$/;

/** The folder of src/ that a file is in; for a file at the root of src/, its name. */
const folderOf = (file: string) => file.replace(/[/.].*$/, "");

/** The folders of src/, with its files that are in none, that each of them imports. Imports of `leaves` are left out. */
export function folderImports(): ReadonlyMap<string, readonly string[]> {
  const importing = Map.groupBy(
    program.filter((file) => file.endsWith(".ts") && !leaves.test(file)),
    folderOf,
  );
  return new Map(
    [...importing].map(([folder, files]) => {
      const imported = files
        .flatMap(importsOf)
        .filter((name) => program.includes(name) && !leaves.test(name))
        .map(folderOf);
      return [folder, [...new Set(imported)].filter((name) => name !== folder).toSorted()];
    }),
  );
}
