// The glossary names only what exists, each once.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
const read = (file: string) => readFileSync(join(root, file), "utf8");

describe("the glossary", () => {
  const rows = [...read("docs/glossary.md").matchAll(/^\| (?!name |---)(.+) \| (.+) \| (.+) \|$/gm)];

  test("names paths that exist", () => {
    const paths = rows.flatMap(([, , , code = ""]) => [...code.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path));
    expect(paths.length).toBeGreaterThanOrEqual(rows.length);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test("has each name once", () => {
    const names = rows.flatMap(([, name = ""]) => name.split(", "));
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
