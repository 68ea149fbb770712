import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import type { Operation } from "../../src/contract/operation.ts";
import { errorsOf } from "../../src/contract/operation-properties.ts";
import { normalizeOutcome } from "../harness/accepted-outcomes.ts";
import { isLongRun, rounds } from "../harness/test-length.ts";
import { dangerousNames, hostileTexts, isInt64Text } from "./hostile-texts.ts";
import { Oracle } from "./oracle.ts";
import { MARK } from "./soundness.ts";
import { isCaseOf, isFirstWith, operations, type Target } from "./target.ts";

/** A path that fits into the 16 KiB of a request line and headers. */
const LONGEST_PATH = 15_000;

/** Characters of a request line that mean something to somebody; it cannot hold spaces and controls. */
const trickyCharacters = [
  ..."&=?#%;+,/\\.:@!~*'\"<>{}[]|^`$()-_0129azAZ".split(""),
  "\x80",
  "\xc3",
  "\xa9",
  "\xff",
  "\xed\xa0\x80",
];

const text = fc.oneof(
  fc.constantFrom(...hostileTexts.filter(({ length }) => length < 1_000)),
  fc.string({ unit: fc.constantFrom(...trickyCharacters), maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 8 }).map((any) => encodeURIComponent(any.toWellFormed())),
  fc
    .uint8Array({ maxLength: 6 })
    .map((bytes) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")),
);

/** Queries of one operation, as bytes on the wire. */
export function attackQueries(operation: Operation, target: () => Target): void {
  const success = String(operation.response.status);
  const outcome = async (query: string) => {
    const valid = target().valid(operation);
    return normalizeOutcome(operation, await target().outcome({ ...valid, target: `${valid.target}?${query}` }));
  };
  /** The outcomes that the document allows. Only its words say which time zones and spans of their days there are. */
  const allowed = (oracle: Oracle, query: string) => {
    if (!oracle.takesQuery(query)) return ["400 invalid_request"];
    return oracle.parameterNames.includes("timeZone") ? [success, "400 invalid_request"] : [success];
  };

  describe("queries", () => {
    test("with hostile texts for every parameter, known or not, return what the document says", async () => {
      const oracle = new Oracle(target().document, operation);
      const unknownNames = ["__proto__", "%7a%7a"];
      for (const name of [...oracle.parameterNames, ...unknownNames]) {
        for (const [index, value] of hostileTexts.entries()) {
          if (unknownNames.includes(name) && !isCaseOf(operation, index)) continue;
          const query = `${name}=${value}`;
          expect([query, allowed(oracle, query)]).toEqual([query, expect.arrayContaining([await outcome(query)])]);
        }
      }
    });

    if (operation.query) {
      test("with a duplicate parameter return 400", async () => {
        const oracle = new Oracle(target().document, operation);
        for (const name of oracle.parameterNames.filter((one) => !oracle.isList(one))) {
          const sample = oracle.sampleOf(name);
          const encoded = `%${name.charCodeAt(0).toString(16)}${sample.slice(1)}`;
          for (const query of [`${sample}&${sample}`, `${sample}&&${encoded}`, `${name}&${sample}`]) {
            expect([query, await outcome(query)]).toEqual([query, "400 invalid_request"]);
          }
        }
      });
    }

    test("of any form return what the document says", async () => {
      const oracle = new Oracle(target().document, operation);
      const name = fc.oneof(fc.constantFrom(...oracle.parameterNames, ...dangerousNames), text);
      const pair = fc.oneof(
        fc.tuple(name, fc.constantFrom("=", "=", "=", "", "=="), text).map((parts) => parts.join("")),
        fc.constantFrom("", ...oracle.parameterNames.map((known) => oracle.sampleOf(known))),
      );
      const query = fc.array(pair, { maxLength: 12 }).map((pairs) => pairs.join("&"));
      await fc.assert(
        fc.asyncProperty(query, async (generated) => {
          expect(allowed(oracle, generated)).toContain(await outcome(generated));
        }),
        { numRuns: rounds(8, 4_500) },
      );
    });

    test("with almost the maximum length return 400", async () => {
      for (const part of ["&", "=", "?", "a&", "a=1&", "%61&", "%", "+", "\xff", "a[]=&", "__proto__&"]) {
        const query = part.repeat(Math.floor(15_000 / part.length));
        expect([part, await outcome(query)]).toEqual([part, "400 invalid_request"]);
      }
    });
  });
}

/** Paths, as bytes on the wire. */
export function attackPaths(operation: Operation, target: () => Target): void {
  const outcome = (path: string, more: readonly string[] = []) =>
    target().outcome({ ...target().valid(operation), target: path, more });

  describe("paths", () => {
    test("of any form below the base address return the expected status", async () => {
      const { basePath } = target();
      const known = operations.map(({ path }) => path.split("/")[1] as string);
      const segment = fc.oneof(text, fc.constantFrom(...known, "1", "..", ".", "", "%2f", "__proto__"));
      const paths = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) =>
        // what stands after a question mark is a query
        segments.map((one) => `/${one.replaceAll("?", "")}`).join(""),
      );
      await fc.assert(
        fc.asyncProperty(paths, async (path) => {
          const got = await outcome(basePath + path);
          expect(got).toMatch(expectedAt(operation, path));
        }),
        { numRuns: rounds(10, 4_500) },
      );
    });

    const { params } = operation;
    if (params) {
      test("with hostile texts for every parameter return the error of an invalid id", async () => {
        const { basePath } = target();
        for (const value of hostileTexts.filter((one) => one !== "" && one !== "0")) {
          const path = operation.path.replaceAll(/\{[^}]*\}/g, value);
          if (path.length > LONGEST_PATH) continue;
          const got = await outcome(basePath + path);
          // An integer may have become the id of something by an earlier request.
          const isThere = isInt64Text(value) && normalizeOutcome(operation, got) === String(operation.response.status);
          expect([value, isThere || got]).toEqual([value, isThere || describeError(params.invalidError)]);
        }
      });
    }

    // Where no operation is, only the method tells one request from another.
    if (isLongRun || isFirstWith(({ method }) => method, operation)) {
      test("that leave the base address return 404, 405 or 415", async () => {
        const { basePath } = target();
        for (const climb of ["/..", "/%2e%2e", "//", "/.", "/..;", "\\..", "/x/../..", "/../../../etc/passwd"]) {
          for (const end of ["", operation.path, "/metrics", "/openapi.json"]) {
            const got = await outcome(`${basePath}${climb}${end}`.replaceAll(/\{[^}]*\}/g, "1"));
            expect([climb, end, got]).toEqual([climb, end, expect.stringMatching(/^(404|405|415) /)]);
          }
        }
        for (const path of [
          "//",
          "/v2/pets",
          "/V1/pets",
          "/.git/config",
          `/${MARK}`,
          "/metrics/../v1/pets",
          "/docs/../../x",
        ]) {
          expect([path, await outcome(path)]).toEqual([path, "404 path_not_found"]);
        }
      });
    }

    test("in absolute form (http://host/path) are the same paths", async () => {
      const valid = target().valid(operation);
      const accepted = normalizeOutcome(operation, await target().outcome(valid));
      for (const origin of [
        "http://petstore",
        `http://${MARK}.example`,
        "https://u:p@other.example:1",
        "HTTP://x:99999",
      ]) {
        const got = await outcome(origin + valid.target);
        expect([origin, normalizeOutcome(operation, got)]).toEqual([origin, accepted]);
      }
    });
  });
}

function describeError({ status, code }: { status: number; code: string }): string {
  return `${status} ${code}`;
}

/** What a request with the method of an operation may get at a path below the base address. */
function expectedAt(operation: Operation, path: string): RegExp {
  const here = operations.filter((one) => {
    const pattern = one.path.split("/").map((part) => (part.startsWith("{") ? "[^/]+" : part));
    return new RegExp(`^${pattern.join("/")}$`).test(path);
  });
  if (here.length === 0) return /^404 path_not_found$/;
  const same = here.find(({ method }) => method === operation.method);
  if (!same) return /^405 method_not_allowed$/;
  // A body that belongs to another operation is judged by this one.
  const statuses = [
    same.response.status,
    ...(same === operation ? same.errors : errorsOf(same)).map(({ status }) => status),
  ];
  return new RegExp(`^(${statuses.join("|")})( |$)`);
}
