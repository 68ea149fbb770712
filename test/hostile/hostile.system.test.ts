// Hostile requests to the real program, for every operation of the contract. What every response must have is
// in `soundness.ts`; what is sent, and what must come back, in the files next to it. A property that
// fails prints its seed and its smallest case.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bodyLimits } from "../../src/contract/requests.ts";
import { normalizeOutcome } from "../harness/accepted-outcomes.ts";
import { isLongRun, rounds } from "../harness/test-length.ts";
import { bareResponses } from "./bare-responses.ts";
import { attackBodies } from "./bodies.ts";
import { attackFraming, outcomesOfAnnounced } from "./framing.ts";
import { attackHeaders } from "./headers.ts";
import { attackMethods } from "./methods.ts";
import { operations, Target } from "./target.ts";
import { attackPaths, attackQueries } from "./targets.ts";

const MIB = 1024 * 1024;
/** How much more memory the process may hold after the attack than after its first part. */
const GROWTH = 64 * MIB;

let target: Target;
const memory: number[] = [];
beforeAll(async () => {
  target = await Target.start();
});
afterAll(() => target.program.child.kill());

describe.each(operations.map((operation) => [operation.name, operation] as const))("%s", (_name, operation) => {
  attackBodies(operation, () => target);
  attackQueries(operation, () => target);
  attackPaths(operation, () => target);
  attackFraming(operation, () => target);
  attackHeaders(operation, () => target);
  attackMethods(operation, () => target);
  afterAll(() => void memory.push(target.memory()));
});

const largest = Math.max(...operations.map(({ body }) => (body?.limits ?? bodyLimits).bytes));

test.each([largest + 1, 128 * 1024 * 1024])("bodies of %d bytes are refused before they arrive", async (length) => {
  const expected = operations.map(({ name, method, response }) => {
    // The body of a GET is ignored.
    return [name, method === "GET" ? String(response.status) : "413 payload_too_large"] as const;
  });
  expect(await outcomesOfAnnounced(operations, length, target)).toEqual(expected);
});

describe("after all these requests", () => {
  test("there were enough cases", () => {
    expect(target.cases / operations.length).toBeGreaterThan(rounds(300, 10_000));
  });

  if (isLongRun) {
    test("the process has hardly more memory than after their first part", () => {
      const [first = 0] = memory;
      expect(target.memory()).toBeLessThan(first + GROWTH);
    });
  }

  test("each operation returns the same as before", async () => {
    for (const operation of operations) {
      const got = await target.outcome(target.valid(operation));
      expect([operation.name, normalizeOutcome(operation, got)]).toEqual([
        operation.name,
        String(operation.response.status),
      ]);
    }
  });

  test("the same process runs, has logged no failure, and stops gracefully", async () => {
    const { child } = target.program;
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    expect(await target.end()).toBe(0);
    const lines = target.program.output
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { event: string; level: string; pid?: number; status?: number });
    expect(lines.filter(({ event }) => event === "listening").map(({ pid }) => pid)).toEqual([child.pid]);
    // Many of these requests have invalid keys, and this service needs no base address.
    const expected = new Set(["invalid_keys_rejected", "base_url_not_set"]);
    const others = lines.filter(({ event }) => !expected.has(event));
    expect(others.filter(({ level, status = 200 }) => level !== "info" || status >= 500)).toEqual([]);
    expect(target.program.errors).toBe("");
  });
});

test("the documentation lists the same responses without a body", () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/errors.md"), "utf8");
  const [, section = ""] = page.split(/^## Bare responses$/m);
  const rows = [...section.split(/^## /m)[0]!.matchAll(/^\| (.+) \| (\S+) \|$/gm)].map(([, what, outcome]) => [
    what,
    outcome,
  ]);
  expect(rows.slice(2)).toEqual(bareResponses.map(({ what, outcome }) => [what, outcome]));
});
