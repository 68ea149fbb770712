import { type Static, Type } from "typebox";
import { defineError, invalidRequest } from "../../contract/errors.ts";
import { defineOperation, type Tag } from "../../contract/operation.ts";
import { pageParameters } from "../../contract/paging.ts";
import { Int64, Text } from "../../contract/schemas.ts";

const animals: Tag = {
  name: "animals",
  description: "The animals of the pet store: list them, add one, read one.",
};

export const petNotFound = defineError({
  code: "pet_not_found",
  status: 404,
  meaning: "No animal has this identifier.",
});

const PetStatus = Type.Enum(["available", "pending", "sold"], {
  title: "PetStatus",
  type: "string",
  description: "Availability status of an animal.",
});

const newPetProperties = {
  name: Text({ description: "The animal's name.", minLength: 1, maxLength: 255, examples: ["Rex"] }),
  categoryId: Int64({ description: "Identifier of the category the animal belongs to.", examples: [1n] }),
  status: Type.Optional(PetStatus),
};

export const NewPet = Type.Object(newPetProperties, {
  title: "NewPet",
  description: "An animal to add.",
  additionalProperties: false,
});
export type NewPet = Static<typeof NewPet>;

export const Pet = Type.Object(
  {
    id: Int64({ description: "Unique identifier assigned by the service on creation.", examples: [42n] }),
    ...newPetProperties,
  },
  { title: "Pet", description: "An animal of the store." },
);
export type Pet = Static<typeof Pet>;

const Pets = Type.Array(Pet, { title: "Pets", description: "Animals, by ascending `id`." });

const rex: Pet = { id: 42n, name: "Rex", categoryId: 1n, status: "available" };
const tom: Pet = { id: 43n, name: "Tom", categoryId: 2n };

const listPets = defineOperation({
  name: "listPets",
  method: "GET",
  path: "/pets",
  tag: animals,
  summary: "List all animals",
  description:
    "Returns animals by ascending `id`, page by page. `limit` sets the size of a page; the `Link` " +
    'header (`rel="next"`) holds the address of the next one and is absent on the last. Animals ' +
    "that are added during a walk through the pages come at its end; none is shown twice.",
  stability: "stable",
  testPanel: true,
  scope: "read",
  query: Type.Object({
    ...pageParameters({ maximum: 100, default: 20, what: "animals" }),
    status: Type.Optional(PetStatus),
  }),
  paged: { position: Int64({ description: "The `id` of an animal." }) },
  answer: {
    status: 200,
    description: "A page of animals.",
    schema: Pets,
    examples: { "Two animals": [rex, tom], "No animal": [] },
  },
  errors: [],
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
  testPanel: true,
  scope: "write",
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
  },
  errors: [invalidRequest], // where animals may name only categories that exist
});

const getPet = defineOperation({
  name: "getPet",
  method: "GET",
  path: "/pets/{petId}",
  tag: animals,
  summary: "Get an animal",
  description: "Returns the animal with the given identifier.",
  stability: "stable",
  deprecation: {
    since: "2026-11-21",
    removal: "2030-12-05",
    replacement: "listPets",
    advice: "Use `GET /pets` with the `status` filter instead.",
  },
  testPanel: true,
  scope: "read",
  params: {
    schema: Type.Object({
      petId: Int64({ description: "The identifier of the animal.", examples: [42n] }),
    }),
    otherwise: petNotFound,
  },
  answer: {
    status: 200,
    description: "The animal.",
    schema: Pet,
    examples: { "An available animal": rex },
  },
  errors: [petNotFound],
});

export const petOperations = [listPets, createPet, getPet] as const;
