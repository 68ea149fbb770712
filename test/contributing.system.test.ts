// The example in CONTRIBUTING.md, typed into a fresh copy of the project as it stands there.
import { beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FreshCopy } from "./harness/fresh-copy.ts";

const text = readFileSync(join(import.meta.dir, "../CONTRIBUTING.md"), "utf8");
const blocks = new Map([...text.matchAll(/```ts (\S+)\n([^]*?)```/g)].map(([, file = "", code = ""]) => [file, code]));
const [newFiles, changedFiles] = ["src/domains/", "src/[as]"].map((start) =>
  [...blocks.keys()].filter((file) => new RegExp(`^${start}`).test(file)),
) as [string[], string[]];

let copy: FreshCopy;

beforeAll(async () => {
  copy = await FreshCopy.make();
  for (const file of newFiles) await Bun.write(join(copy.folder, file), blocks.get(file) ?? "");
  for (const file of changedFiles) {
    const path = join(copy.folder, file);
    await Bun.write(path, withEntry(await Bun.file(path).text(), blocks.get(file) ?? ""));
  }
});

/** A file with the imports of a block before its own, and the rest of the block as the last entry of its list. */
function withEntry(content: string, block: string): string {
  const [, imports = "", entry = ""] = /^((?:import .*\n)*)([^]*)$/.exec(block) ?? [];
  const list = /^const \w+: readonly \w+\[\] = \[[^]*?(?=\];)/m;
  expect(content).toMatch(list);
  return imports + content.replace(list, (before) => `${before.replace(/([^\s,[])\s*$/, "$1,\n")}${entry}`);
}

test("has an operation, a handler, a store and a test", () => {
  const kinds = ["operations", "handlers", "store", "domain", "both.test"].map(
    (kind) => `src/domains/toys/toys.${kind}.ts`,
  );
  expect(newFiles).toEqual(kinds);
  expect(changedFiles).toEqual(["src/app/domains.ts"]);
});

test("compiles with the strict settings of the project, and is formatted", async () => {
  const settings = { extends: "./tsconfig.json", include: ["src", "csv"] }; // and all that their files import
  await Bun.write(join(copy.folder, "tsconfig.src.json"), JSON.stringify(settings));
  const types = await copy.shell("node_modules/.bin/tsc --pretty false -p tsconfig.src.json");
  expect([types.stdout, types.status]).toEqual(["", 0]);
  const format = await copy.shell("node_modules/.bin/biome ci --colors=off --vcs-enabled=false src/domains/toys");
  expect(format.status === 0 ? "" : format.stdout + format.stderr).toBe("");
});

// In one run: each has to start a runner.
test("serves real HTTP, as its own test shows, and obeys the rules of imports, events and shops", async () => {
  const rules = ["architecture", "contract/emitted-events", "shops/shop-statements"].map(
    (name) => `test/${name}.test.ts`,
  );
  const files = [...newFiles.filter((file) => file.endsWith(".test.ts")), ...rules];
  const { stderr, status } = await copy.shell(`npx bun test ${files.map((file) => `./${file}`).join(" ")}`);
  expect(status === 0 ? "" : stderr).toBe("");
  expect(files.filter((file) => !stderr.includes(`${file}:\n`))).toEqual([]); // all of them ran
});

test("leaves CONTRIBUTING at two pages without it", () => {
  const prose = text.replaceAll(/```ts[^]*?```/g, "");
  expect(prose.split(/\s+/).length).toBeLessThan(950);
});
