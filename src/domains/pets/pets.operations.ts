import { type Static, Type } from "typebox";
import { defineError, invalidRequest, preconditionFailed } from "../../contract/errors.ts";
import { defineOperation, noContent, type Tag } from "../../contract/operation.ts";
import { pagesOf } from "../../contract/paging.ts";
import { described, Int64, Text, Timestamp } from "../../contract/schemas.ts";

const animals: Tag = {
  name: "animals",
  description: "The animals of the pet store: list them, add one, read, change or delete it.",
  stability: "beta",
};

export const petNotFound = defineError({
  code: "pet_not_found",
  status: 404,
  meaning: "No animal has this identifier.",
});

/** What is wrong with a `categoryId` where animals may name only categories that exist. */
export const notACategory = "is not the id of a category";

export const invalidTransition = defineError({
  code: "invalid_transition",
  status: 409,
  meaning: "The animal's status cannot become this one. The message names those that are allowed.",
});
export const petHasOpenOrder = defineError({
  code: "pet_has_open_order",
  status: 409,
  meaning:
    "The animal has an open order. Until it closes, the animal cannot be deleted, and only the order changes its status.",
});

const PetStatus = Type.Enum(["available", "pending", "sold"], {
  title: "PetStatus",
  type: "string",
  description: "Availability status of an animal.",
});
export type PetStatus = Static<typeof PetStatus>;

const StatusCause = Type.Enum(
  [
    "added",
    "imported",
    "updated",
    "order_placed",
    "order_confirmed",
    "order_cancelled",
    "order_expired",
    "order_returned",
  ],
  { title: "StatusCause", type: "string", description: "What gave an animal its status." },
);
export type StatusCause = Static<typeof StatusCause>;

const name = Text({ description: "The animal's name.", minLength: 1, maxLength: 255, examples: ["Rex"] });
const categoryId = Int64({ description: "Identifier of the category the animal belongs to.", examples: [1n] });
const status = Type.Optional(PetStatus);
const newPetProperties = { name, categoryId, status };

export const NewPet = Type.Object(newPetProperties, {
  title: "NewPet",
  description: "An animal to add.",
  additionalProperties: false,
});
export type NewPet = Static<typeof NewPet>;

export const Pet = Type.Object(
  {
    id: Int64({ description: "Unique identifier assigned by the service on creation.", examples: [7n] }),
    ...newPetProperties,
  },
  { title: "Pet", description: "An animal of the store." },
);
export type Pet = Static<typeof Pet>;

const PetPatch = Type.Object(
  { name: Type.Optional(name), categoryId: Type.Optional(categoryId), status },
  {
    title: "PetPatch",
    description: "The fields of an animal to change (JSON Merge Patch, RFC 7396). None of them can be removed.",
    additionalProperties: false,
  },
);
export type PetPatch = Static<typeof PetPatch>;

const StatusChange = Type.Object(
  {
    at: Type.Optional(Timestamp({ description: "When, by the service's clock. Absent where that was not kept yet." })),
    cause: StatusCause,
    from: Type.Optional(described(PetStatus, "The status before.")),
    to: Type.Optional(described(PetStatus, "The status from then on.")),
  },
  {
    title: "StatusChange",
    description: "A change of an animal's status. `from` or `to` is absent where the animal had no status.",
  },
);
export type StatusChange = Static<typeof StatusChange>;
const StatusChanges = Type.Array(StatusChange, { title: "StatusChanges", description: "Changes, the oldest first." });

const Pets = Type.Array(Pet, { title: "Pets", description: "Animals, in the order of their `id`." });

/** Animals as a fresh development instance, which has six, answers with them: the examples work there. */
const rex: Pet = { id: 7n, name: "Rex", categoryId: 1n, status: "available" };
const tom: Pet = { id: 8n, name: "Tom", categoryId: 2n };

const petId = Int64({ description: "The identifier of the animal.", examples: [7n] });
const params = { schema: Type.Object({ petId }), invalidError: petNotFound };

/** What selects animals and their order; all but `status` is beside the interface. */
const filters = {
  status: Type.Optional(described(PetStatus, "Filters animals by availability status.")),
  categoryId: Type.Optional(
    Int64({
      description:
        "Filters animals by category (beta). A page may then hold fewer than `limit` animals, or none, though " +
        "more follow: go on as long as there is a `Link`.",
      examples: [1n],
    }),
  ),
  ids: Type.Optional(
    Type.Array(petId, {
      description:
        "Filters animals by `id` (beta): up to 100 of them, separated by commas or in several parameters. One " +
        "that no animal has is no error. Pages hold up to `limit` animals here too.",
      minItems: 1,
      maxItems: 100,
    }),
  ),
  sort: Type.Optional(
    Type.Enum(["id", "-id"], {
      title: "PetSort",
      type: "string",
      description: "The order (beta): `id` is the usual one, `-id` shows the animals that were added last first.",
    }),
  ),
};

const Filters = Type.Object(filters);
/** What selects and orders a list of animals. */
export type ListFilters = Static<typeof Filters>;

const listPets = defineOperation({
  name: "listPets",
  method: "GET",
  path: "/pets",
  tag: animals,
  summary: "List all animals",
  description:
    "Returns animals by ascending `id`, page by page. `limit` sets the size of a page; the `Link` " +
    'header (`rel="next"`) holds the address of the next one and is absent on the last. Animals ' +
    "that are added during a walk through the pages come at its end; none is shown twice.\n\n" +
    "An animal is shown if it passes all filters that are given. `ids` reads known animals, one or many at once.",
  stability: "stable",
  ...pagesOf({
    what: "animals",
    schema: Pets,
    position: Int64({ description: "The `id` of an animal.", examples: [6n] }),
    filters,
    examples: { "Two animals": [rex, tom], "No animal": [] },
  }),
});

const createPet = defineOperation({
  name: "createPet",
  method: "POST",
  path: "/pets",
  tag: animals,
  summary: "Add an animal",
  description:
    "Adds an animal and returns it with the `id` that the service gave it. The answer is sent after " +
    "the animal is safe on disk. A `status` that is not sent stays absent.",
  stability: "stable",
  body: {
    schema: NewPet,
    examples: {
      "An available animal": { name: "Rex", categoryId: 1n, status: "available" },
      "Without a status": { name: "Tom", categoryId: 2n },
    },
  },
  answer: {
    status: 201,
    description: "The animal as it was added.",
    schema: Pet,
    examples: { "An available animal": rex, "Without a status": tom },
    location: "/pets/{id}",
    entityTag: true,
  },
  errors: [invalidRequest], // where animals may name only categories that exist
});

const getPet = defineOperation({
  name: "getPet",
  method: "GET",
  path: "/pets/{petId}",
  tag: animals,
  summary: "Get an animal",
  description:
    "Returns the animal with the given identifier. `GET /pets?ids=7` finds the same animal, and goes on doing so.",
  stability: "stable",
  deprecation: {
    since: "2026-11-21",
    removal: "2030-12-05",
    replacement: "listPets",
    advice: "Use `GET /pets` with the `status` filter instead.",
  },
  params,
  answer: {
    status: 200,
    description: "The animal.",
    schema: Pet,
    examples: { "An available animal": rex },
  },
});

const updatePet = defineOperation({
  name: "updatePet",
  method: "PATCH",
  path: "/pets/{petId}",
  tag: animals,
  summary: "Change an animal",
  description:
    "Changes the fields that are sent (JSON Merge Patch, RFC 7396) and returns the animal as it is then. " +
    "With `If-Match` it changes only an animal that nobody has changed meanwhile. Not every status can become " +
    "every other: `available` and `pending` can become each other or `sold`; what is sold stays so, unless an " +
    "order sold it and is returned.",
  params,
  body: {
    schema: PetPatch,
    examples: {
      "Another status": { status: "pending" },
      "Another name and category": { name: "Rex II", categoryId: 2n },
    },
  },
  ifMatch: Pet,
  answer: {
    status: 200,
    description: "The animal as it is now.",
    schema: Pet,
    examples: { "Another status": { ...rex, status: "pending" } },
    entityTag: true,
  },
  errors: [preconditionFailed, invalidRequest, invalidTransition, petHasOpenOrder],
});

const deletePet = defineOperation({
  name: "deletePet",
  method: "DELETE",
  path: "/pets/{petId}",
  tag: animals,
  summary: "Delete an animal",
  description:
    "Deletes an animal and the history of its status. The service never gives its `id` again. With `If-Match` it deletes " +
    "only an animal that nobody has changed meanwhile. Sent again, it finds no animal: 404.",
  testPanel: { disabled: "one click would delete an animal for good" },
  params,
  ifMatch: Pet,
  answer: noContent("The animal is deleted."),
  errors: [preconditionFailed, petHasOpenOrder],
});

const listPetStatusChanges = defineOperation({
  name: "listPetStatusChanges",
  method: "GET",
  path: "/pets/{petId}/history",
  tag: animals,
  summary: "List how an animal's status changed",
  description:
    "Returns the changes of an animal's status with their time and cause, the oldest first: the first one is that " +
    "it was added. The newest 1,000 are kept, and the first change of all. They are read page by page, as `listPets`.",
  stability: "experimental",
  params,
  ...pagesOf({
    what: "changes",
    schema: StatusChanges,
    position: Int64({ description: "The number of a change.", examples: [2n] }),
    examples: {
      "Added, then reserved": [
        { at: "2026-11-21T10:00:00.000Z", cause: "added", to: "available" },
        { at: "2026-11-21T10:05:00.000Z", cause: "order_placed", from: "available", to: "pending" },
      ],
    },
  }),
});

export const petOperations = [listPets, createPet, getPet, updatePet, deletePet, listPetStatusChanges] as const;
