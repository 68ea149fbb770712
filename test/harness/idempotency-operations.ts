import { Type } from "typebox";
import { shopNumber } from "../../src/contract/caller.ts";
import { defineError, failure } from "../../src/contract/errors.ts";
import { bind, type Handlers } from "../../src/contract/handler.ts";
import { defineOperation, noContent, type Tag } from "../../src/contract/operation.ts";
import { Secret } from "../../src/contract/schemas.ts";
import type { Domain } from "../../src/domains/domain.ts";
import { operator } from "../../src/domains/events/publish.ts";
import { PetStore } from "../../src/domains/pets/pets.store.ts";
import { unchecked } from "./unchecked-pets.ts";

const tag: Tag = { name: "outcomes", description: "Operations of tests.", stability: "experimental" };
const refused = defineError({ code: "test_refused", status: 409, meaning: "The test asked for a refusal." });
const unavailable = defineError({ code: "test_unavailable", status: 503, meaning: "The test asked for 503." });

const testOutcome = defineOperation({
  name: "testOutcome",
  method: "POST",
  path: "/outcomes/{place}",
  tag,
  summary: "End as asked for",
  description: "Adds an animal, and ends as the body says.",
  params: {
    schema: Type.Object({ place: Type.String({ description: "Any text.", maxLength: 20 }) }),
    invalidError: refused,
  },
  emits: [],
  query: Type.Object({
    variant: Type.Optional(Type.String({ description: "Makes it another request.", maxLength: 9 })),
  }),
  body: {
    schema: Type.Object({
      end: Type.String({ description: "The outcome.", maxLength: 20 }),
      note: Type.Optional(Type.String({ description: "A note.", maxLength: 20 })),
    }),
    examples: { "A success": { end: "success" } },
  },
  response: {
    status: 200,
    description: "It succeeded.",
    schema: Type.Object({ end: Type.String({ description: "The outcome." }) }),
    examples: { "A success": { end: "success" } },
  },
  errors: [unavailable],
});

const testNoContent = defineOperation({
  name: "testNoContent",
  method: "POST",
  path: "/no-content",
  tag,
  summary: "Return nothing",
  description: "Adds an animal, and returns nothing.",
  emits: [],
  response: noContent("It succeeded."),
});

const testSecret = defineOperation({
  name: "testSecret",
  method: "POST",
  path: "/secrets",
  tag,
  summary: "Get a secret",
  description: "Adds an animal, and returns a secret.",
  emits: [],
  response: {
    status: 201,
    description: "A secret, shown once.",
    schema: Type.Object({ secret: Secret("The secret.") }),
    examples: { "A secret": { secret: "x" } },
  },
});

const operations = [testOutcome, testNoContent, testSecret] as const;

/** Operations that add an animal in each run, and have the outcome that a test of idempotency needs. */
export const idempotencyOperations: Domain = {
  name: "outcomes",
  operations,
  open: ({ storage }) => {
    const pets = new PetStore(storage, unchecked);
    const addOne = (shop: number) => pets.add(operator(shopNumber(shop)), { name: "Rex", categoryId: 1n });
    const handlers: Handlers<typeof operations> = {
      *testOutcome({ caller: { shop }, body: { end } }) {
        yield* addOne(shop);
        if (end === "refusal") return failure(refused, "No.", { retryAfter: 7 });
        if (end === "unavailable") return failure(unavailable, "Not now.", { retryAfter: 1 });
        if (end === "failure") throw new Error("It went wrong.");
        if (end === "undeclared")
          return failure({ ...refused, code: "undeclared" } as unknown as typeof refused, "It is not declared.");
        return { body: { end } };
      },
      *testNoContent({ caller: { shop } }) {
        yield* addOne(shop);
        return { body: null };
      },
      *testSecret({ caller: { shop } }) {
        yield* addOne(shop);
        return { body: { secret: `secret-${crypto.randomUUID()}` } };
      },
    };
    return bind(operations, handlers);
  },
};
