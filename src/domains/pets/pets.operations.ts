import { type Static, Type } from "typebox";
import { defineError, invalidRequest, preconditionFailed } from "../../contract/errors.ts";
import { defineEvent } from "../../contract/event-type.ts";
import { defineOperation, noContent, type Tag } from "../../contract/operation.ts";
import { pagesOf } from "../../contract/paging.ts";
import { described, Int64, Text } from "../../contract/schemas.ts";
import { metadata, metadataPatch, newMetadata } from "../metadata/metadata.schemas.ts";

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
  meaning: "An order sold the animal. Its status changes only when that order is returned.",
});
export const petHasOpenOrder = defineError({
  code: "pet_has_open_order",
  status: 409,
  meaning:
    "The animal has an open order. Until it closes, the animal cannot be deleted, and only the order changes its status.",
});

export const petCreated = defineEvent({ type: "pet.created", meaning: "An animal was added." });
export const petUpdated = defineEvent({
  type: "pet.updated",
  meaning: "An animal was changed, manually or by an order.",
});
export const petDeleted = defineEvent({ type: "pet.deleted", meaning: "An animal was deleted." });
export const importCompleted = defineEvent({
  type: "import.completed",
  meaning: "Animals were imported, too many for an event each: how many, and the range of their ids.",
});
export const petsReassigned = defineEvent({
  type: "pets.reassigned",
  meaning: "All animals of one category now belong to another: which, and how many.",
});
export const petEventTypes = [petCreated, petUpdated, petDeleted, importCompleted, petsReassigned] as const;

const PetStatus = Type.Enum(["available", "pending", "sold"], {
  title: "PetStatus",
  type: "string",
  description: "Availability status of an animal.",
});
export type PetStatus = Static<typeof PetStatus>;

const name = Text({ description: "The animal's name.", minLength: 1, maxLength: 255, examples: ["Rex"] });
const categoryId = Int64({ description: "Identifier of the category the animal belongs to.", examples: [1n] });
const status = Type.Optional(PetStatus);
const newPetProperties = { name, categoryId, status };

export const NewPet = Type.Object(
  { ...newPetProperties, metadata: newMetadata },
  { title: "NewPet", description: "An animal to add.", additionalProperties: false },
);
export type NewPet = Static<typeof NewPet>;

export const Pet = Type.Object(
  {
    id: Int64({ description: "Unique identifier assigned by the service on creation.", examples: [7n] }),
    ...newPetProperties,
    metadata,
  },
  { title: "Pet", description: "An animal of the store." },
);
export type Pet = Static<typeof Pet>;

const PetPatch = Type.Object(
  { name: Type.Optional(name), categoryId: Type.Optional(categoryId), status, metadata: metadataPatch },
  {
    title: "PetPatch",
    description: "The fields of an animal to change (JSON Merge Patch, RFC 7396). Only metadata can be removed.",
    additionalProperties: false,
  },
);
export type PetPatch = Static<typeof PetPatch>;

const Pets = Type.Array(Pet, { title: "Pets", description: "Animals, in the order of their `id`." });

/** Animals as a fresh development instance, which has six, answers with them: the examples work there. */
const rex: Pet = { id: 7n, name: "Rex", categoryId: 1n, status: "available" };
const tom: Pet = { id: 8n, name: "Tom", categoryId: 2n };

const petId = Int64({ description: "The identifier of the animal.", examples: [7n] });
const params = { schema: Type.Object({ petId }), invalidError: petNotFound };

/** What selects animals and their order; all but `status` goes beyond the interface. */
const filters = {
  status: Type.Optional(described(PetStatus, "Filters animals by availability status.")),
  categoryId: Type.Optional(Int64({ description: "Filters animals by category (beta).", examples: [1n] })),
  name: Type.Optional({
    ...name,
    description: "Filters animals by a text that their name contains, in any case (beta). There are no wildcards.",
  }),
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
    "An animal is shown if it passes all filters that are given. `ids` reads known animals, one or many at once. With " +
    "`categoryId` or `name`, a page looks through 10,000 animals at most. It may then hold fewer than `limit`, or none, " +
    "though more follow: continue as long as there is a `Link`.",
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
  emits: ["pet.created"],
  response: {
    status: 201,
    description: "The animal as it was added.",
    schema: Pet,
    examples: {
      "An available animal": rex,
      "Without a status": tom,
    },
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
    "Returns the animal with the given identifier. `GET /pets?ids=7` finds the same animal, and continues doing so.",
  stability: "stable",
  deprecation: {
    since: "2026-11-21",
    removal: "2030-12-05",
    replacement: "listPets",
    advice: "Use `GET /pets` with the `status` filter instead.",
  },
  params,
  response: {
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
    "With `If-Match` it changes only an animal that nobody has changed meanwhile. A status that was set manually can " +
    "be changed manually, also from `sold`. A status that an order set changes only with that order.",
  params,
  body: {
    schema: PetPatch,
    examples: {
      "Another status": { status: "pending" },
      "Another name and category": { name: "Rex II", categoryId: 2n },
      "One pair set, one removed": { metadata: { shelf: "C-3", supplier: null } },
    },
  },
  ifMatch: Pet,
  emits: ["pet.updated"],
  response: {
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
    "Deletes an animal. Its events stay, and the service never gives its `id` again. With `If-Match` it deletes only an " +
    "animal that nobody has changed meanwhile. Sent again, it finds no animal: 404.",
  testPanel: { disabled: "one click would delete an animal for good" },
  params,
  ifMatch: Pet,
  emits: ["pet.deleted"],
  response: noContent("The animal is deleted."),
  errors: [preconditionFailed, petHasOpenOrder],
});

export const petOperations = [listPets, createPet, getPet, updatePet, deletePet] as const;
