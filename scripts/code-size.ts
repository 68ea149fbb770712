// Counts the program: lines of code in src/ without tests, comments and blank lines; modules, imports between
// them, and pieces of six lines that occur more than once: bun scripts/code-size.ts [FOLDER]
import { existsSync } from "node:fs";
import { dirname, join, normalize, resolve } from "node:path";
import { Glob } from "bun";

/** Lines of a piece that is compared. */
const BLOCK = 6;

const root = resolve(process.argv[2] ?? ".");
const files = [...new Glob("src/**/*.ts").scanSync({ cwd: root })]
  .filter((file) => !file.endsWith(".test.ts"))
  .toSorted((a, b) => (a < b ? -1 : 1));
const texts = new Map(
  await Promise.all(files.map(async (file) => [file, await Bun.file(join(root, file)).text()] as const)),
);

const lines = new Map([...texts].map(([file, text]) => [file, codeLines(text)] as const));
const total = [...lines.values()].reduce((sum, one) => sum + one.length, 0);
const edges = [...texts].flatMap(([file, text]) => importsOf(file, text));
console.log(`lines of code: ${total}`);
console.log(`modules: ${files.length}`);
console.log(`imports between modules: ${edges.length}, ${(edges.length / files.length).toFixed(2)} per module`);
console.log(`duplicated pieces of ${BLOCK} lines: ${duplicates().length}`);
for (const place of duplicates()) console.log(`  ${place}`);

/** The trimmed lines of code, without blank lines and comments. */
function codeLines(text: string): string[] {
  let isComment = false;
  return text.split("\n").flatMap((line) => {
    const trimmed = line.trim();
    if (!isComment && trimmed.startsWith("/*")) isComment = true;
    const counts = !isComment && trimmed !== "" && !trimmed.startsWith("//");
    if (isComment && trimmed.includes("*/")) isComment = false;
    return counts ? [trimmed] : [];
  });
}

/** The modules of src/ that a module imports. */
function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(/^(?:import|export)\b[^;]*?from "(\.[^"]+)"/gm)]
    .map(([, name = ""]) => normalize(join(dirname(file), name)))
    .filter((name) => name.startsWith("src/") && existsSync(join(root, name)));
}

/** The beginnings of pieces that also occur elsewhere and do not overlap. Leaves out imports, and lines of names only. */
function duplicates(): string[] {
  const seen = new Map<string, string>();
  const found: string[] = [];
  for (const [file, code] of lines) {
    const own = code.filter((line) => !/^(import|export) .*from|^import \{$|^[A-Za-z, ]+,$|^\} from/.test(line));
    let until = 0;
    for (let start = 0; start + BLOCK <= own.length; start++) {
      const block = own.slice(start, start + BLOCK).join("\n");
      if (!/[a-z]{3}/.test(block)) continue;
      const other = seen.get(block);
      if (other === undefined) seen.set(block, `${file}: ${own[start]}`);
      else if (start >= until) {
        found.push(`${file}: ${own[start]}  =  ${other}`);
        until = start + BLOCK;
      }
    }
  }
  return found;
}
