import { expect, test } from "bun:test";
import { Type } from "typebox";
import { callerWith } from "../../test/harness/callers.ts";
import { defineError, failure } from "./errors.ts";
import { bind, type Handlers, responseWith } from "./handler.ts";
import { defineOperation } from "./operation.ts";
import { Int64 } from "./schemas.ts";

const notFound = defineError({ code: "toy_not_found", status: 404, meaning: "No toy has this identifier." });
const Toy = Type.Object({ id: Int64({ description: "Its identifier." }) });

const operations = [
  defineOperation({
    name: "getToy",
    method: "GET",
    path: "/toys/{toyId}",
    tag: { name: "toys", description: "What animals play with.", stability: "stable" },
    summary: "Get a toy",
    description: "Returns a toy.",
    params: { schema: Type.Object({ toyId: Int64({ description: "Which toy." }) }), invalidError: notFound },
    response: { status: 200, description: "The toy.", schema: Toy, examples: { One: { id: 1n } } },
  }),
] as const;

const caller = callerWith();

// The compiler checks these tests: it reports an error if it accepts a line below `@ts-expect-error`.

test("an operation is bound to its handler", () => {
  const handlers: Handlers<typeof operations> = {
    *getToy({ params }) {
      return params.toyId === 1n ? { body: { id: 1n } } : failure(notFound, "There is none.");
    },
  };
  const [bound] = bind(operations, handlers);
  expect(bound?.operation).toBe(operations[0]);
  const input = {
    params: { toyId: 1n },
    query: {},
    body: undefined,
    after: undefined,
    pageBytes: 1,
    caller,
    requestId: "1",
  };
  expect(bound?.read?.(input).next()).toEqual({ done: true, value: { body: { id: 1n } } });
});

test("an operation without a handler does not compile, and fails at startup", () => {
  // @ts-expect-error -- getToy is missing
  expect(() => bind(operations, {})).toThrow("The operation getToy has no handler; add getToy to the handlers.");
});

test("what a store returns is the failure, or the body of the response", () => {
  const failed = failure(notFound, "There is none.");
  const outcomes: ({ readonly id: bigint } | null | typeof failed)[] = [{ id: 1n }, null, failed];
  expect(outcomes.map((outcome) => responseWith(outcome))).toEqual([{ body: { id: 1n } }, { body: null }, failed]);
  // @ts-expect-error -- a body with this field would be taken for a failure
  responseWith({ id: 1n, error: "none" } as { readonly id: bigint; readonly error?: string } | typeof failed);
});
