import { describe, expect, test } from "bun:test";
import { METHODS } from "node:http";
import * as fc from "fast-check";
import type { Operation } from "../../src/contract/operation.ts";
import { normalizeOutcome } from "../harness/accepted-outcomes.ts";
import { isLongRun, rounds } from "../harness/test-length.ts";
import { MARK } from "./soundness.ts";
import { isFirstWith, operations, type Target } from "./target.ts";

/** Methods of every name, registered or not. */
export function attackMethods(operation: Operation, target: () => Target): void {
  const ask = (method: string, path = target().valid(operation).target, more: string[] = []) =>
    target().outcome({ ...target().valid(operation), method, target: path, more });

  /** What the path of the operation has. */
  const own = operations.filter(({ path }) => path === operation.path).map(({ method }) => method as string);
  const allowed = new Set([...own, ...(own.includes("GET") ? ["HEAD"] : []), "OPTIONS"]);
  const others = METHODS.filter((method) => !allowed.has(method));

  describe("methods", () => {
    // The other operations of a path differ in a method that the path has.
    if (isLongRun || isFirstWith(({ path }) => path, operation)) {
      test("that the path does not have return 405", async () => {
        for (const method of others) {
          const got = await ask(method, undefined, [`X-A: ${MARK}`]);
          expect([method, got]).toEqual([method, refused(method, "405 method_not_allowed")]);
        }
      });

      test("without a key return 401", async () => {
        for (const method of METHODS.filter((one) => one !== "OPTIONS")) {
          const request = { ...target().valid(operation), method, authorization: [], more: [target().newAddress()] };
          const got = await target().outcome(request);
          expect([method, got]).toEqual([method, refused(method, "401 missing_api_key")]);
        }
      });
    }

    if (isLongRun || operation === operations[0]) {
      test("of any name return 404 for an unknown path", async () => {
        for (const method of METHODS.filter((one) => one !== "OPTIONS")) {
          const got = await ask(method, `${target().basePath}/nothing`);
          expect([method, got]).toEqual([method, refused(method, "404 path_not_found")]);
        }
      });
    }

    test("in an override header are ignored", async () => {
      for (const name of ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"]) {
        for (const method of ["DELETE", "POST", "TRACE", MARK]) {
          const got = normalizeOutcome(operation, await ask(operation.method, undefined, [`${name}: ${method}`]));
          expect([name, method, got]).toEqual([name, method, String(operation.response.status)]);
        }
      }
    });

    test("with any name return 405 or close the connection", async () => {
      const word = fc.string({ unit: fc.constantFrom(..."GETPOSHADUL-_!~a1".split("")), minLength: 1, maxLength: 8 });
      await fc.assert(
        fc.asyncProperty(fc.oneof(word, fc.constantFrom(...METHODS)), async (method) => {
          fc.pre(!allowed.has(method));
          const got = await ask(method);
          // A name that is no method's ends the connection, or is refused for its characters.
          if (METHODS.includes(method)) expect(got).toBe(refused(method, "405 method_not_allowed"));
          else expect(got).toMatch(/^(closed|bare 400)$/);
        }),
        { numRuns: rounds(5, 1_200) },
      );
    });
  });
}

/** A response to HEAD has no body, which would name the code. */
function refused(method: string, outcome: string): string {
  return method === "HEAD" ? outcome.slice(0, 3) : outcome;
}
