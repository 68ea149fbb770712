// The patterns of the document in the engines that read JSON Schema: each compiles them, and all mean the same.
import { beforeAll, describe, expect, test } from "bun:test";
import { createRequire } from "node:module";
import { join } from "node:path";
import { hasInteropTools, interopFolder } from "../harness/interop-tools.ts";
import { TestService } from "../harness/service.ts";

/** The indexes of the texts that a pattern matches. Throws if the engine does not compile the pattern. */
type Engine = (pattern: string, texts: readonly string[]) => number[];

const load = createRequire(join(interopFolder, "package.json"));

function matching(texts: readonly string[], matches: (text: string) => boolean): number[] {
  return [...texts.keys()].filter((index) => matches(texts[index] as string));
}

const program = `
import json, re, sys
pattern, texts = json.load(sys.stdin)
print(json.dumps([index for index, text in enumerate(texts) if re.search(pattern, text)]))`;

const engines: Record<string, Engine> = {
  "JavaScript with the u flag": (pattern, texts) => matching(texts, (text) => new RegExp(pattern, "u").test(text)),
  "RE2 (Go)": (pattern, texts) => {
    const compiled = load("re2js").RE2JS.compile(pattern);
    return matching(texts, (text) => compiled.matcher(text).find());
  },
  "Rust (pydantic)": (pattern, texts) => {
    const compiled = new (load("rregex").RRegex)(pattern);
    return matching(texts, (text) => compiled.isMatch(text));
  },
  "Python (jsonschema)": (pattern, texts) => {
    const input = Buffer.from(JSON.stringify([pattern, texts]));
    const { stdout, stderr, success } = Bun.spawnSync(["python3", "-c", program], { stdin: input, stderr: "pipe" });
    if (!success) throw new Error(stderr.toString());
    return JSON.parse(stdout.toString()) as number[];
  },
};

// None ends with a line break: Python's `$` matches before it, and no portable pattern says otherwise.
const texts = [
  ...'a-b_c 01 - 0 a/b \\ "a" "a "a\\"b" [ ] 2026-11-21T12:00:00Z[x] é שלום 🐕 👩‍🔬 \u{10ffff} \0 a\0b \x1fa \x7f \x80 \x9f'.split(
    " ",
  ),
  ...["", "a b", "\xa0", "a\nb", "\u2028x", "\u202e"].concat("x".repeat(255), "x".repeat(256), `"${"x".repeat(256)}"`),
];

describe.skipIf(!hasInteropTools())("the patterns of the document", () => {
  const patterns = new Set<string>();
  beforeAll(async () => {
    const service = await TestService.start();
    const document = await (await fetch(new URL("/openapi.json", service.app.base))).json();
    JSON.stringify(document, (_, value) => {
      if (typeof value?.pattern === "string") patterns.add(value.pattern);
      return value;
    });
    await service.stop();
  });

  test.each(Object.keys(engines))("compile and mean the same in %s", (name) => {
    if (name.startsWith("Python") && !Bun.which("python3")) return;
    expect(patterns.size).toBeGreaterThan(5);
    const engine = engines[name] as Engine;
    for (const pattern of patterns) {
      const compiled = new RegExp(pattern);
      expect([pattern, engine(pattern, texts)]).toEqual([pattern, matching(texts, (text) => compiled.test(text))]);
    }
  });

  test.each(["RE2 (Go)", "Rust (pydantic)"])("control: %s refuses a surrogate", (name) => {
    expect(() => (engines[name] as Engine)("^[^\\uD800-\\uDFFF]*$", texts)).toThrow();
  });
});
