// The validator decides whether input is accepted, and other code says why it is not: both must mean the same.
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import type { TSchema } from "typebox";
import { domains } from "../../src/app/domains.ts";
import { MAX_FAULTS } from "../../src/contract/errors.ts";
import { faultsOf } from "../../src/contract/input-faults.ts";
import { parseJson, syntaxFault } from "../../src/contract/parse-json.ts";
import { compileValidator } from "../../src/contract/validators.ts";
import { rounds } from "../harness/test-length.ts";
import { bodyOf } from "../harness/valid-call.ts";
import { brokenJson } from "../hostile/hostile-bodies.ts";

const operations = domains.flatMap((domain) => domain.operations);
const schemas = operations.flatMap(({ name, params, query, body }) =>
  [params?.schema, query, body?.schema].flatMap((schema) => (schema ? [{ name, schema }] : [])),
);

/** Every value that a keyword of the schema mentions, and those next to it. */
function valuesNear(schema: unknown): unknown[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, given]) => {
    if (keyword === "examples" || keyword === "enum") return given as unknown[];
    if (typeof given !== "number") return valuesNear(given);
    const around = [given - 1, given, given + 1].filter((size) => size >= 0 && size <= 2_100);
    return around.flatMap((size) => [
      size,
      "x".repeat(size),
      "🐕".repeat(size),
      Array.from({ length: size }, (_, index) => index),
      Object.fromEntries(Array.from({ length: size }, (_, index) => [`k${index}`, "v"])),
    ]);
  });
}

const oddities = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 53,
  2n ** 63n - 1n,
  2n ** 63n,
  Number.NaN,
  "",
  "\0",
  "\ud800",
  "Sold",
  [],
  {},
];

describe.each(schemas)("the faults of $name", ({ schema }) => {
  test("are none for what the validator accepts, and tell why it refuses the rest", () => {
    const validator = compileValidator(schema);
    const operation = operations.find(({ body }) => body?.schema === schema);
    const example = operation ? (parseJson(bodyOf(operation) ?? "{}") as object) : {};
    const { properties = {} } = schema as { properties?: Record<string, TSchema> };
    const value = fc.oneof(fc.constantFrom(...oddities, ...valuesNear(schema)), fc.jsonValue({ maxDepth: 2 }));
    const names = fc.constantFrom(...Object.keys(properties), "other", "__proto__x");
    const changes = fc.dictionary(names, value, { maxKeys: 3, noNullPrototype: true });
    const pairs = fc.dictionary(fc.string({ maxLength: 45 }), value, { maxKeys: 4, noNullPrototype: true });
    const objects = fc
      .tuple(changes, pairs, fc.boolean())
      .map(([changed, metadata, hasPairs]) => Object.assign({}, example, changed, hasPairs ? { metadata } : {}));
    let refused = 0;
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: objects }, value), (input) => {
        const faults = faultsOf(input, schema, "/body", "field");
        const isExplained = faults.length > 1 || faults[0]?.message !== "is not valid";
        expect(isExplained).toBe(!validator.Check(input));
        expect(faults.length).toBeLessThanOrEqual(MAX_FAULTS);
        if (isExplained) refused++;
      }),
      { numRuns: rounds(150, 5_000) },
    );
    expect(refused).toBeGreaterThan(0);
  });
});

/** The fault of a text; undefined if it is JSON. */
function faultOf(text: string): string | undefined {
  try {
    parseJson(text);
    return undefined;
  } catch {
    return syntaxFault(text);
  }
}

const changing = ["{", "}", "[", "]", ",", ":", '"', "\\", "'", "+", "-", ".", "0", "e", "\n", " ", "x", "\u00e9"];

test("a text that is not JSON is refused at its first wrong place: what is before it can be completed", () => {
  for (const text of brokenJson) expect(syntaxFault(text)).toMatch(/ line \d+, column \d+( |,)/);
  const change = fc.tuple(fc.nat(), fc.constantFrom(...changing, ""), fc.nat({ max: 2 }));
  let refused = 0;
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), change, (json, [where, character, length]) => {
      const at = where % (json.length + 1);
      const text = json.slice(0, at) + character + json.slice(at + length);
      const [, line, column] = /line (\d+), column (\d+) has/.exec(faultOf(text) ?? "") ?? [];
      if (line === undefined) return;
      refused++;
      const before = text.split("\n").slice(0, Number(line) - 1);
      const start = [...before, ""].join("\n").length + Number(column) - 1;
      expect(faultOf(text.slice(0, start)) ?? "it ends at").toMatch(/it ends at|has no closing quote$/);
    }),
    { numRuns: rounds(500, 20_000) },
  );
  expect(refused).toBeGreaterThan(100);
});
