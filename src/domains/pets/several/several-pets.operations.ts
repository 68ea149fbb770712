import { Type } from "typebox";
import { defineError, invalidRequest } from "../../../contract/errors.ts";
import { defineOperation } from "../../../contract/operation.ts";
import { bodyLimits } from "../../../contract/requests.ts";
import { Choice, Int32, Int64, UNCHECKED_ITEMS } from "../../../contract/schemas.ts";
import { animals, notACategory, shopFull } from "../pets.operations.ts";
import { NewPet } from "../pets.schemas.ts";

/** The maximum number of animals that one request or one part of a file adds or deletes. */
export const MOST_PETS = 500;
/** The maximum number of faults of one animal that are told. */
export const FAULTS_OF_A_PET = 3;
/** What an import does with an animal whose reference another one has. */
export const onExistingRules = ["refuse", "skip", "update"] as const;
/** How large the body of an import may be, and the metadata of the animals that one request changes or deletes, in bytes. */
export const MOST_BYTES = 512 * 1024;

export const petsTooLarge = defineError({
  code: "pets_too_large",
  status: 413,
  meaning: `The animals to change or delete have more than ${MOST_BYTES / 1024} KiB of metadata together. Nothing was changed.`,
  advice: "Name fewer animals, in several requests.",
});
export const petsNotDeletable = defineError({
  code: "pets_not_deletable",
  status: 409,
  meaning: "An order reserves or has sold some of the animals. Nothing was deleted. `details` names the first of them.",
});

const index = Int32({ description: "The place in the request, from 0 on.", examples: [0] });
const id = Int64({ description: "The identifier of the animal.", examples: [7n] });

const outcome = Choice(["created", "updated", "skipped"], {
  title: "PetImportOutcome",
  description: "`updated` and `skipped`: the animal existed, see `onExisting`.",
});

const PetImport = Type.Object(
  {
    animals: Type.Unsafe<readonly unknown[]>(
      Type.Array(NewPet, {
        description: "The animals to add, in the order of their new ids.",
        minItems: 1,
        maxItems: MOST_PETS,
        [UNCHECKED_ITEMS]: true,
      }),
    ),
    onError: Type.Optional(
      Choice(["skip"], {
        title: "PetImportOnError",
        description: "`skip` leaves out animals with faults. Without it, one fault refuses all.",
      }),
    ),
    onExisting: Type.Optional(
      Choice(onExistingRules, {
        title: "PetImportOnExisting",
        description:
          "What to do with an animal whose `reference` another one has. `refuse`, the default, makes it a fault. `skip` " +
          "changes nothing. `update` changes the fields that are given, as `updatePet` does.",
      }),
    ),
  },
  { title: "PetImport", description: "Animals to add together.", additionalProperties: false },
);
const ImportedPets = Type.Object(
  {
    animals: Type.Array(
      Type.Object({ index, id, outcome }, { title: "ImportedPet", description: "What became of an animal." }),
      { description: "The animals that have no fault.", maxItems: MOST_PETS },
    ),
    faults: Type.Array(
      Type.Object(
        {
          index,
          path: Type.String({
            description: "Where the fault is: a JSON Pointer into the animal.",
            examples: ["/name"],
          }),
          message: Type.String({ description: "What is wrong." }),
        },
        { title: "PetFault", description: "Why an animal was left out." },
      ),
      {
        description: `The faults of those that were left out: the first ${FAULTS_OF_A_PET} of each.`,
        maxItems: MOST_PETS * FAULTS_OF_A_PET,
      },
    ),
  },
  { title: "ImportedPets", description: "The outcome of an import." },
);

const rex = { name: "Rex", categoryId: 1n, status: "available" } as const;

export const importPets = defineOperation({
  name: "importPets",
  method: "POST",
  path: "/pets/import",
  tag: animals,
  stability: "beta",
  summary: "Add several animals",
  description:
    `Adds up to ${MOST_PETS} animals in one request, all or none. The body may have ${MOST_BYTES / 1024} KiB, and so may ` +
    'the metadata of the animals that are updated. With `"onError": "skip"`, adds those without a fault.',
  body: {
    files: "the command `petstore import` and the console take files",
    schema: PetImport,
    examples: {
      "Two animals": { animals: [rex, { name: "Tom", categoryId: 2n }] },
      "As many as possible": { animals: [rex, { name: "Tom", categoryId: 9n }], onError: "skip" },
      "New prices": {
        animals: [{ ...rex, price: { amount: 19_900n, currency: "EUR" }, reference: "276098102345678" }],
        onExisting: "update",
      },
    },
    limits: { bytes: MOST_BYTES, values: 20 * MOST_PETS, escapes: 64_000 },
  },
  emits: ["pet.created", "pet.updated", "order.expired"],
  response: {
    status: 201,
    description: "The new animals.",
    schema: ImportedPets,
    examples: {
      "Two animals": {
        animals: [
          { index: 0, id: 7n, outcome: "created" },
          { index: 1, id: 8n, outcome: "created" },
        ],
        faults: [],
      },
      "As many as possible": {
        animals: [{ index: 0, id: 7n, outcome: "created" }],
        faults: [{ index: 1, path: "/categoryId", message: notACategory }],
      },
      "New prices": { animals: [{ index: 0, id: 7n, outcome: "updated" }], faults: [] },
    },
  },
  errors: [invalidRequest, petsTooLarge, shopFull],
});

const deletePets = defineOperation({
  name: "deletePets",
  method: "POST",
  path: "/pets/delete",
  tag: animals,
  stability: "beta",
  summary: "Delete several animals",
  description:
    `Deletes up to ${MOST_PETS} animals, all or none: those of an import, for example. Together they may have ` +
    `${MOST_BYTES / 1024} KiB of metadata. Ids of no animal are ignored. An animal that an order reserves or has sold ` +
    "cannot be deleted here.",
  testPanel: { disabled: "one click would permanently delete animals" },
  body: {
    schema: Type.Object(
      {
        ids: Type.Array(id, { description: "The animals to delete.", minItems: 1, maxItems: MOST_PETS }),
      },
      { title: "PetDeletion", description: "Animals to delete together.", additionalProperties: false },
    ),
    examples: { "Two animals": { ids: [7n, 8n] } },
    limits: { ...bodyLimits, values: MOST_PETS + 100 },
  },
  emits: ["pet.deleted", "pet.updated", "order.expired"],
  response: {
    status: 200,
    description: "The animals are deleted.",
    schema: Type.Object(
      {
        deleted: Type.Array(id, { description: "The animals that there were, by ascending id.", maxItems: MOST_PETS }),
      },
      { title: "DeletedPets", description: "The deleted animals." },
    ),
    examples: { "Two animals": { deleted: [7n, 8n] } },
  },
  errors: [petsTooLarge, petsNotDeletable],
});

export const severalPetsOperations = [importPets, deletePets] as const;
