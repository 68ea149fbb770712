import { Type } from "typebox";
import { defineError, failure } from "../../src/contract/errors.ts";
import { bind, type Handlers } from "../../src/contract/handler.ts";
import { defineOperation, noContent, type Tag } from "../../src/contract/operation.ts";
import type { Domain } from "../../src/domains/domain.ts";
import { operator } from "../../src/domains/events/author.ts";
import { PetStore } from "../../src/domains/pets/pets.store.ts";

const tag: Tag = { name: "attempts", description: "Operations of tests.", stability: "experimental" };
const refused = defineError({ code: "attempt_refused", status: 409, meaning: "The attempt is refused." });
const busy = defineError({ code: "attempt_busy", status: 503, meaning: "The attempt cannot be made now." });

const attempt = defineOperation({
  name: "attempt",
  method: "POST",
  path: "/attempts/{place}",
  tag,
  summary: "Try something",
  description: "Adds an animal, and says then how the attempt ends.",
  params: {
    schema: Type.Object({ place: Type.String({ description: "Where.", maxLength: 20 }) }),
    invalidError: refused,
  },
  query: Type.Object({ mood: Type.Optional(Type.String({ description: "Makes it another attempt.", maxLength: 9 })) }),
  body: {
    schema: Type.Object({
      end: Type.String({ description: "How it is to end.", maxLength: 20 }),
      note: Type.Optional(Type.String({ description: "A note.", maxLength: 20 })),
    }),
    examples: { "A success": { end: "success" } },
  },
  response: {
    status: 200,
    description: "It succeeded.",
    schema: Type.Object({ end: Type.String({ description: "How it ended." }) }),
    examples: { "A success": { end: "success" } },
  },
  errors: [busy],
});

const drop = defineOperation({
  name: "drop",
  method: "POST",
  path: "/drops",
  tag,
  summary: "Drop something",
  description: "Adds an animal, and returns nothing.",
  response: noContent("It was dropped."),
});

const issueSecret = defineOperation({
  name: "issueSecret",
  method: "POST",
  path: "/secrets",
  tag,
  summary: "Get a secret",
  description: "Adds an animal, and returns a secret.",
  response: {
    status: 201,
    description: "A secret, shown once.",
    schema: Type.Object({ secret: Type.String({ description: "The secret." }) }),
    examples: { "A secret": { secret: "x" } },
    secret: true,
  },
});

const operations = [attempt, drop, issueSecret] as const;

/** Operations that add an animal in each run, and end as their input says. */
export const attempts: Domain = {
  name: "attempts",
  operations,
  open: ({ storage }) => {
    const pets = new PetStore(storage);
    const addOne = (shop: number) => pets.add(operator(shop), { name: "Rex", categoryId: 1n });
    const handlers: Handlers<typeof operations> = {
      *attempt({ caller: { shop }, body: { end } }) {
        yield* addOne(shop);
        if (end === "refusal") return failure(refused, "No.", { retryAfter: 7 });
        if (end === "busy") return failure(busy, "Not now.", { retryAfter: 1 });
        if (end === "failure") throw new Error("It went wrong.");
        if (end === "stranger") return failure({ ...refused, code: "stranger" } as unknown as typeof refused, "Who?");
        return { body: { end } };
      },
      *drop({ caller: { shop } }) {
        yield* addOne(shop);
        return { body: null };
      },
      *issueSecret({ caller: { shop } }) {
        yield* addOne(shop);
        return { body: { secret: `secret-${crypto.randomUUID()}` } };
      },
    };
    return bind(operations, handlers);
  },
};
