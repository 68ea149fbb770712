import { type Static, type TSchema, Type } from "typebox";
import { defineError, invalidRequest, preconditionFailed } from "../../contract/errors.ts";
import { defineEvent, defineOperation, noContent, type Tag } from "../../contract/operation.ts";
import { pagesOf } from "../../contract/paging.ts";
import { Int64, Text } from "../../contract/schemas.ts";
import { metadata, metadataPatch, newMetadata } from "../metadata/metadata.schemas.ts";

const categories: Tag = {
  name: "categories",
  description: "The categories that animals belong to. Animals can be moved from one category to another.",
  stability: "stable",
};

export const categoryNotFound = defineError({
  code: "category_not_found",
  status: 404,
  meaning: "No category has this identifier.",
});
export const categoryIdTaken = defineError({
  code: "category_exists",
  status: 409,
  meaning: "A category with this identifier already exists.",
});
export const categoryNameTaken = defineError({
  code: "category_name_taken",
  status: 409,
  meaning: "Another category already has this name, or one that looks the same.",
});
export const categoryInUse = defineError({
  code: "category_in_use",
  status: 409,
  meaning: "Animals belong to the category. Set `moveTo` to the category that they move to.",
});
export const moveTargetNotFound = defineError({
  code: "move_target_not_found",
  status: 409,
  meaning: "The category in `moveTo` does not exist, or is the one being deleted.",
});

const name = Text({
  description: "The category's unique name.",
  minLength: 1,
  maxLength: 255,
  examples: ["Hamsters"],
});

export const Category = Type.Object(
  { id: Int64({ description: "Unique identifier.", examples: [5n] }), name, metadata },
  { title: "Category", description: "A category of animals." },
);
export type Category = Static<typeof Category>;
/** The compiler asks for each field of a category where one is sent. */
type Fields<Without extends string = never> = Readonly<Record<Exclude<keyof Category, Without>, TSchema>>;

const NewCategory = Type.Object(
  {
    id: Type.Optional(
      Int64({
        description:
          "Meant for a category that animals already refer to: their `categoryId`. By default, the service assigns " +
          "one that no animal refers to.",
        examples: [5n],
      }),
    ),
    name,
    metadata: newMetadata,
  } satisfies Fields,
  { title: "NewCategory", description: "A category to add.", additionalProperties: false },
);
export type NewCategory = Static<typeof NewCategory>;

const CategoryPatch = Type.Object({ name: Type.Optional(name), metadata: metadataPatch } satisfies Fields<"id">, {
  title: "CategoryPatch",
  description: "The fields of a category to change (JSON Merge Patch, RFC 7396). Only metadata can be removed.",
  additionalProperties: false,
});
export type CategoryPatch = Static<typeof CategoryPatch>;

export const categoryCreated = defineEvent({
  type: "category.created",
  meaning: "A category was added.",
  data: Category,
});
export const categoryUpdated = defineEvent({
  type: "category.updated",
  meaning: "A category was changed.",
  data: Category,
  previous: Category,
});
export const categoryDeleted = defineEvent({
  type: "category.deleted",
  meaning: "A category was deleted.",
  previous: Category,
});
export const categoryEventTypes = [categoryCreated, categoryUpdated, categoryDeleted] as const;

const Categories = Type.Array(Category, { title: "Categories", description: "Categories, sorted by `id`." });

const params = {
  schema: Type.Object({ categoryId: Int64({ description: "The identifier of the category.", examples: [5n] }) }),
  invalidError: categoryNotFound,
};

const hamsters: Category = { id: 5n, name: "Hamsters" };
const rabbits: Category = { id: 6n, name: "Rabbits" };

const listCategories = defineOperation({
  name: "listCategories",
  method: "GET",
  path: "/categories",
  tag: categories,
  summary: "List all categories",
  aliases: ["species", "types", "breeds", "groups"],
  description: "Returns categories by ascending `id`, one page at a time.",
  ...pagesOf({
    what: "categories",
    schema: Categories,
    position: Int64({ description: "The `id` of a category.", examples: [5n] }),
    examples: { "Two categories": [hamsters, rabbits], "No category": [] },
  }),
  agentTools: {
    list_categories: { does: "reads", takes: ["limit"], gives: "categories", text: "List the categories of animals." },
  },
});

const createCategory = defineOperation({
  name: "createCategory",
  method: "POST",
  path: "/categories",
  tag: categories,
  summary: "Add a category",
  description:
    "Adds a category and returns it. Names are unique: those that differ only in letter case, white space or invisible " +
    "characters are the same. Animals can refer to a category before it is added.",
  body: {
    schema: NewCategory,
    examples: {
      "A new category": { name: "Hamsters" },
      "A category that animals already refer to": { id: 6n, name: "Rabbits" },
    },
  },
  emits: ["category.created"],
  response: {
    status: 201,
    description: "The new category.",
    schema: Category,
    examples: { "A new category": hamsters, "A category that animals already refer to": rabbits },
    location: "/categories/{id}",
    entityTag: true,
  },
  errors: [categoryIdTaken, categoryNameTaken],
});

const getCategory = defineOperation({
  name: "getCategory",
  method: "GET",
  path: "/categories/{categoryId}",
  tag: categories,
  summary: "Get a category",
  description: "Returns the category with the given identifier.",
  params,
  response: { status: 200, description: "The category.", schema: Category, examples: { "A category": hamsters } },
});

const updateCategory = defineOperation({
  name: "updateCategory",
  method: "PATCH",
  path: "/categories/{categoryId}",
  tag: categories,
  summary: "Change a category",
  description:
    "Changes the fields in the body (JSON Merge Patch, RFC 7396) and returns the category. Its animals do not change. " +
    "With `If-Match`, the change succeeds only if the category is still the version that you read.",
  params,
  body: {
    schema: CategoryPatch,
    examples: {
      "Another name": { name: "Golden hamsters" },
    },
  },
  ifMatch: Category,
  emits: ["category.updated"],
  response: {
    status: 200,
    description: "The changed category.",
    schema: Category,
    examples: { "Another name": { id: 5n, name: "Golden hamsters" } },
    entityTag: true,
  },
  errors: [preconditionFailed, invalidRequest, categoryNameTaken],
});

const deleteCategory = defineOperation({
  name: "deleteCategory",
  method: "DELETE",
  path: "/categories/{categoryId}",
  tag: categories,
  summary: "Delete a category",
  description:
    "Deletes an empty category. With `moveTo`, its animals move to that category first, up to 1,000 at a time: after a " +
    "503, some may have moved, and the same request continues. The identifier is never assigned again. With `If-Match`, the deletion succeeds only if the " +
    "category is still the version that you read. A repeated request returns 404.",
  testPanel: { disabled: "one click would permanently delete a category" },
  params,
  query: Type.Object({
    moveTo: Type.Optional(
      Int64({ description: "The identifier of the existing category that the animals move to.", examples: [1n] }),
    ),
  }),
  ifMatch: Category,
  emits: ["category.deleted", "pets.reassigned"],
  response: noContent("The category is deleted."),
  errors: [preconditionFailed, categoryInUse, moveTargetNotFound],
});

export const categoryOperations = [
  listCategories,
  createCategory,
  getCategory,
  updateCategory,
  deleteCategory,
] as const;
