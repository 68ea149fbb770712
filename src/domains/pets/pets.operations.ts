import { type Static, Type } from "typebox";
import { defineError, invalidRequest, preconditionFailed } from "../../contract/errors.ts";
import { defineEvent, defineOperation, noContent, type Tag } from "../../contract/operation.ts";
import { filterByIds, pagesOf } from "../../contract/paging.ts";
import { Choice, described, Int64, Text } from "../../contract/schemas.ts";
import { NewPet, name, Pet, PetPatch, PetStatus, Pets, Reassignment } from "./pets.schemas.ts";

export const animals: Tag = {
  name: "animals",
  description: "The animals of the shop: list them, add one, read, change or delete it.",
  stability: "stable",
};

export const petNotFound = defineError({
  code: "pet_not_found",
  status: 404,
  meaning: "No animal has this identifier.",
});

/** The fault of a `categoryId` whose category does not exist, if `PETSTORE_STRICT_CATEGORIES` is set. */
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

export const referenceTaken = defineError({
  code: "reference_taken",
  status: 409,
  meaning: "Another animal of the shop has this reference. The message names it.",
});

export const shopFull = defineError({
  code: "shop_full",
  status: 409,
  meaning:
    "The shop may hold no more animals: see `animalsAllowed` of `GET /shop`. Delete some, or ask for another plan.",
});

export const petCreated = defineEvent({ type: "pet.created", meaning: "An animal was added.", data: Pet });
export const petUpdated = defineEvent({
  type: "pet.updated",
  meaning: "An animal was changed, manually or by an order.",
  data: Pet,
  previous: Pet,
});
export const petDeleted = defineEvent({ type: "pet.deleted", meaning: "An animal was deleted.", previous: Pet });
export const petsReassigned = defineEvent({
  type: "pets.reassigned",
  meaning: "Animals of one category, in a range of ids, were moved to another.",
  data: Reassignment,
});
export const petEventTypes = [petCreated, petUpdated, petDeleted, petsReassigned] as const;

/** How tools for assistants take the price and the reference of an animal. */
const priceAndReference = [["price_amount", "price.amount"], ["currency", "price.currency"], "reference"] as const;

/** Animals in the documentation's examples. */
const price = { amount: 24_900n, currency: "EUR" };
const reference = "276098102345678";
const rex: Pet = { id: 7n, name: "Rex", categoryId: 1n, status: "available", price, reference };
const tom: Pet = { id: 8n, name: "Tom", categoryId: 2n };

const petId = Int64({ description: "The identifier of the animal.", examples: [7n] });
const params = { schema: Type.Object({ petId }), invalidError: petNotFound };

/** The characters of a name by which animals are searched and sorted. */
export const MAX_SEARCH = 64;

/**
 * The query parameters that filter and sort animals. All but `status` are additions to the specification that this
 * service was built from.
 */
const filters = {
  status: Type.Optional(described(PetStatus, "Filters animals by availability status.")),
  categoryId: Type.Optional(Int64({ description: "Filters animals by category.", examples: [1n] })),
  name: Type.Optional({
    ...name,
    description: "Returns animals whose name contains this text, ignoring case. There are no wildcards.",
  }),
  ids: filterByIds("animal", "Filters animals by `id`. One id gives the animal's `ETag`."),
  search: Type.Optional(
    Text({
      description:
        "Returns the animal with this `id` and the one with exactly this `reference`, then those whose name begins with " +
        "this text, ignoring case, by name. Not with `ids`. An empty text searches nothing.",
      maxLength: MAX_SEARCH,
      default: "",
    }),
  ),
  sort: Type.Optional(
    Choice(["id", "-id", "name", "-name"], {
      title: "PetSort",
      description:
        "Sort order: `id`, the default, returns the oldest animals first, `-id` the newest. `name` and `-name` ignore case, " +
        `and compare the first ${MAX_SEARCH} characters, then the \`id\`. A search sorts by name.`,
    }),
  ),
};

const Filters = Type.Object(filters);
/** The filters and sort order of a list of animals. */
export type ListFilters = Static<typeof Filters>;

const listPets = defineOperation({
  name: "listPets",
  method: "GET",
  path: "/pets",
  tag: animals,
  summary: "List all animals",
  aliases: ["products", "items", "dogs", "cats", "stock"],
  description:
    "Returns animals by `id`, or by name, one page at a time. `limit` sets the page size. The `Link` " +
    'header (`rel="next"`) holds the URL of the next page and is absent on the last one. Animals ' +
    "that are added while you read the pages come at the end by default, and none is returned twice.\n\n" +
    "Filters are combined: an animal must match all of them. Use `ids` to read one or more known animals. With " +
    "`categoryId` or `name`, or with `status` in a list by name, a page scans at most 10,000 animals. It can hold fewer than `limit` animals, or none, " +
    "although more follow: continue while there is a `Link`.",
  ...pagesOf({
    what: "animals",
    schema: Pets,
    position: Type.Unsafe<bigint | string>({
      type: "string",
      description: "The `id` of an animal, or its place in a list by name.",
      examples: ["6"],
    }),
    filters,
    ids: "ids",
    examples: { "Two animals": [rex, tom], "No animal": [] },
  }),
  agentTools: {
    find_animals: {
      does: "reads",
      takes: ["search", "name", "status", "categoryId", "sort", "limit"],
      gives: "animals",
      text: "Find animals by name, reference, status or category. Without filters, it lists all.",
    },
    read_animals: {
      does: "reads",
      takes: ["ids"],
      needs: ["ids"],
      fixed: { limit: 100 },
      gives: "animals",
      text: "Read known animals.",
    },
  },
  errors: [invalidRequest],
});

const createPet = defineOperation({
  name: "createPet",
  method: "POST",
  path: "/pets",
  tag: animals,
  summary: "Add an animal",
  description:
    "Adds an animal and returns it with its assigned `id`. The response is sent after " +
    "the animal has been written to disk. Without a `status`, the animal has none.",
  body: {
    schema: NewPet,
    examples: {
      "An available animal": { name: "Rex", categoryId: 1n, status: "available", price, reference },
      "Without a status": { name: "Tom", categoryId: 2n },
    },
  },
  agentTools: {
    add_animal: {
      does: "adds",
      takes: ["name", "categoryId", "status", ...priceAndReference],
      gives: "animal",
      text: "Add an animal.",
    },
  },
  emits: ["pet.created"],
  response: {
    status: 201,
    description: "The new animal.",
    schema: Pet,
    examples: {
      "An available animal": rex,
      "Without a status": tom,
    },
    location: "/pets/{id}",
    entityTag: true,
  },
  errors: [invalidRequest, referenceTaken, shopFull], // the first if `PETSTORE_STRICT_CATEGORIES` is set, or without a currency
});

const getPet = defineOperation({
  name: "getPet",
  method: "GET",
  path: "/pets/{petId}",
  tag: animals,
  summary: "Get an animal",
  description: "Returns the animal with the given identifier.",
  deprecation: {
    since: "2026-11-21",
    removal: "2030-12-05",
    replacement: "listPets",
    // The specification that this service was built from names `status`.
    advice: "Use `GET /pets` with the `status` filter instead, or with `ids` for one animal.",
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
    "Changes the fields in the body (JSON Merge Patch, RFC 7396) and returns the changed animal. With `If-Match`, the " +
    "change succeeds only if the animal is still the version that you read. You can change a status that you set " +
    "yourself, even `sold`. A status that was set by an order changes only with that order.",
  params,
  body: {
    schema: PetPatch,
    examples: {
      "Another status": { status: "pending" },
      "Another name and category": { name: "Rex II", categoryId: 2n },
      "Another price": { price: { amount: 19_900n, currency: "EUR" } },
      "One pair set, one removed": { metadata: { shelf: "C-3", supplier: null } },
    },
  },
  ifMatch: Pet,
  agentTools: {
    change_animal: {
      does: "overwrites",
      takes: ["petId", "name", "categoryId", "status", ...priceAndReference],
      gives: "animal",
      text: "Change the name, category, status, price or reference of an animal. To sell it, use sell_animal instead.",
    },
  },
  emits: ["pet.updated", "order.expired"],
  response: {
    status: 200,
    description: "The changed animal.",
    schema: Pet,
    examples: { "Another status": { ...rex, status: "pending" } },
    entityTag: true,
  },
  errors: [preconditionFailed, invalidRequest, invalidTransition, petHasOpenOrder, referenceTaken],
});

const deletePet = defineOperation({
  name: "deletePet",
  method: "DELETE",
  path: "/pets/{petId}",
  tag: animals,
  summary: "Delete an animal",
  description:
    "Deletes an animal. Its events are kept, and its `id` is never reused. With `If-Match`, the deletion succeeds only " +
    "if the animal is still the version that you read. A repeated request returns 404.",
  testPanel: { disabled: "one click would permanently delete an animal" },
  params,
  ifMatch: Pet,
  emits: ["pet.deleted", "pet.updated", "order.expired"],
  response: noContent("The animal is deleted."),
  errors: [preconditionFailed, petHasOpenOrder],
});

export const petOperations = [listPets, createPet, getPet, updatePet, deletePet] as const;
