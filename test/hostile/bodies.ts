import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import type { Operation } from "../../src/contract/operation.ts";
import { isAccepted } from "../harness/accepted-outcomes.ts";
import { rounds } from "../harness/test-length.ts";
import { bodyOf } from "../harness/valid-call.ts";
import { brokenJson, notUtf8, otherTypes } from "./hostile-bodies.ts";
import { dangerousNames, hostileNumber, isInt64Text } from "./hostile-texts.ts";
import { Oracle } from "./oracle.ts";
import type { Target } from "./target.ts";

/** Operations with properties that exclude each other, which the document says in words only. */
const dependentProperties = new Set(["redeliverWebhooks"]);

/** Sends bodies with an ordinary client. `framing.ts` sends bodies to operations that have none. */
export function attackBodies(operation: Operation, target: () => Target): void {
  if (!operation.body) return;
  const valid = bodyOf(operation) as string;
  const success = operation.response.status;
  const send = async (body: string | Uint8Array, headers: Record<string, string> = {}) => {
    const { status, text } = await target().call(operation, {
      body,
      headers: { "Content-Type": "application/json", ...headers },
    });
    const { code } = (text === "" ? {} : JSON.parse(text)) as { code?: string };
    // In a long run, the pairs of valid patches add up in their resource until it is full.
    const isFull = status === 400 && /would then have \d+ pairs/.test(text);
    return { status: isFull || isAccepted(operation, status, code) ? success : status, text };
  };
  /** The possible statuses of a body that the document accepts, or not. */
  const statusesOf = (isValid: boolean) => [
    ...(isValid ? [success] : []),
    ...(isValid && !dependentProperties.has(operation.name) ? [] : [400]),
  ];
  const oracle = () => new Oracle(target().document, operation);

  /** The only fault that the response tells. */
  const soleFault = async (body: string | Uint8Array) => {
    const { status, text } = await send(body);
    const { details } = JSON.parse(text) as { details?: { path: string; message: string }[] };
    return [status, details?.length, details?.[0]?.path, details?.[0]?.message];
  };

  describe("bodies", () => {
    test("that are not valid JSON return 400", async () => {
      for (const body of brokenJson) {
        const message = expect.stringMatching(
          /^is not valid JSON: |^has (a number of )?more than [0-9,]+ (values|escapes|digits)$/,
        );
        expect([body, ...(await soleFault(body))]).toEqual([body, 400, 1, "/body", message]);
      }
    });

    test("that are not valid UTF-8 return 400", async () => {
      for (const [name, bytes] of Object.entries(notUtf8)) {
        const fault = await soleFault(Uint8Array.from(bytes));
        const message = expect.stringMatching(/^is not JSON in valid UTF-8(;|$)/);
        expect([name, ...fault]).toEqual([name, 400, 1, "/body", message]);
      }
    });

    test("with another Content-Type return 415", async () => {
      for (const type of otherTypes) {
        expect([type, (await send(valid, { "Content-Type": type })).status]).toEqual([type, 415]);
      }
    });

    test("with a Content-Encoding return 415", async () => {
      for (const encoding of ["gzip", "deflate", "br", "zstd", "identity, gzip", "gzip, gzip", "x", ","]) {
        const packed = encoding === "gzip" ? Bun.gzipSync(valid) : valid;
        expect([encoding, (await send(packed, { "Content-Encoding": encoding })).status]).toEqual([encoding, 415]);
      }
    });

    test("that are compressed without a Content-Encoding return 400", async () => {
      expect((await send(Bun.gzipSync(valid))).status).toBe(400);
    });

    test("with the deepest possible nesting return 400", async () => {
      for (const [open, inside, close] of [
        ["[", "", "]"],
        ['{"a":', "1", "}"],
        ['[{"a":', "1e5", "}]"],
        ['{"__proto__":', "12345678901234567", "}"],
      ] as const) {
        const depth = Math.floor(60_000 / (open.length + close.length));
        const nested = open.repeat(depth) + inside + close.repeat(depth);
        expect((await send(nested)).status).toBe(400);
        for (const name of propertiesOf(operation)) {
          expect((await send(replaced(valid, name, nested))).status).toBe(400);
        }
      }
    });

    test("with property names that JavaScript treats specially return 400", async () => {
      for (const name of dangerousNames) {
        for (const value of ["1", "null", valid, `{"__proto__":${valid}}`]) {
          const { status, text } = await send(`{${JSON.stringify(name)}:${value},${valid.slice(1)}`);
          const paths = (JSON.parse(text) as { details: { path: string }[] }).details.map(({ path }) => path);
          expect([name, status, paths]).toEqual([name, 400, [`/body/${name}`]]);
        }
        expect((await send(`{${JSON.stringify(name)}:${valid}}`)).status).toBe(400);
      }
      expect((await send(valid)).status).toBe(success);
    });

    test("with numbers of any size and form return what the document says", async () => {
      const judge = oracle();
      for (const name of propertiesOf(operation, "integer")) {
        await fc.assert(
          fc.asyncProperty(hostileNumber, async (number) => {
            const body = replaced(valid, name, number);
            // The judge rounds, but knows of narrower bounds.
            const isValid = isInt64Text(number) && judge.takesBody(Buffer.from(body));
            expect(statusesOf(isValid)).toContain((await send(body)).status);
          }),
          { numRuns: rounds(8, 4_500) },
        );
      }
    });

    test("with any texts return what the document says", async () => {
      const judge = oracle();
      const texts = fc.oneof(
        fc.string({ unit: "binary", maxLength: 20 }),
        fc.string({ unit: fc.constantFrom("\ud800", "\udfff", "🐕", "\0", "\u202e", "a"), maxLength: 10 }),
        fc
          .tuple(fc.constantFrom("🐕", "é", "x"), fc.integer({ min: 250, max: 260 }))
          .map(([unit, times]) => unit.repeat(times)),
      );
      for (const name of propertiesOf(operation, "string")) {
        await fc.assert(
          fc.asyncProperty(texts, async (text) => {
            const body = replaced(valid, name, JSON.stringify(text));
            expect(statusesOf(judge.takesBody(Buffer.from(body)))).toContain((await send(body)).status);
          }),
          { numRuns: rounds(10, 3_000) },
        );
      }
    });

    test("with values of any type return what the document says", async () => {
      const judge = oracle();
      const members = fc.oneof(fc.constantFrom(...propertiesOf(operation)), fc.constantFrom(...dangerousNames));
      const bodies = fc.oneof(
        fc.json({ stringUnit: "binary" }),
        fc.dictionary(members, fc.jsonValue(), { maxKeys: 5 }).map((given) => JSON.stringify(given)),
        fc
          .tuple(fc.constantFrom(...propertiesOf(operation)), fc.jsonValue())
          .map(([name, value]) => replaced(valid, name, JSON.stringify(value))),
      );
      await fc.assert(
        fc.asyncProperty(bodies, async (body) => {
          expect(statusesOf(judge.takesBody(Buffer.from(body)))).toContain((await send(body)).status);
        }),
        { numRuns: rounds(10, 7_500) },
      );
    });

    test("that are valid except for a few bytes return what the document says", async () => {
      const judge = oracle();
      const change = fc.record({
        at: fc.nat(valid.length),
        remove: fc.nat(3),
        insert: fc.oneof(
          fc.uint8Array({ maxLength: 3 }),
          fc
            .constantFrom('"', "\\", ",", ":", "{}", "[", "\0", "\ufeff", "\\ud800", "e", "-")
            .map((text) => Buffer.from(text)),
        ),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
          const body = changes.reduce<Buffer>(
            (bytes, { at, remove, insert }) =>
              Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + remove)]),
            Buffer.from(valid),
          );
          expect(statusesOf(judge.takesBody(body))).toContain((await send(body)).status);
        }),
        { numRuns: rounds(10, 7_500) },
      );
    });
  });
}

/** The names of the body's properties, of all or of one type. */
function propertiesOf({ body }: Operation, type?: string): string[] {
  const schema = (body?.schema ?? {}) as { properties?: Record<string, { type?: string }> };
  return Object.entries(schema.properties ?? {})
    .filter(([, property]) => type === undefined || property.type === type)
    .map(([name]) => name);
}

/** The same JSON object with another value, written as it is, for one property. */
function replaced(json: string, name: string, value: string): string {
  const { [name]: _old, ...others } = JSON.parse(json) as Record<string, unknown>;
  return `{${JSON.stringify(name)}:${value}${Object.keys(others).length > 0 ? "," : ""}${JSON.stringify(others).slice(1)}`;
}
