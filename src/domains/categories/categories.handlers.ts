import { failure, versionMismatch } from "../../contract/errors.ts";
import { type Handlers, successOr } from "../../contract/handler.ts";
import { authorOf } from "../events/publish.ts";
import { tooMuchMetadata } from "../metadata/metadata.schemas.ts";
import {
  categoryIdTaken,
  categoryInUse,
  categoryNameTaken,
  categoryNotFound,
  type categoryOperations,
  moveTargetNotFound,
} from "./categories.operations.ts";
import type { CategoryStore, DeletionRefusal } from "./categories.store.ts";

export function categoryHandlers(categories: CategoryStore): Handlers<typeof categoryOperations> {
  return {
    listCategories: ({ caller, query: { limit }, after }) => categories.page(caller.shop, after, limit),

    *createCategory({ caller, requestId, body }) {
      return successOr(yield* categories.add(authorOf(caller, requestId), body), {
        "id taken": () => failure(categoryIdTaken, `A category with the id ${body.id} already exists.`),
        "name taken": () => nameTaken,
      });
    },

    *getCategory({ caller, params: { categoryId } }) {
      const found = yield* categories.get(caller.shop, categoryId);
      return found ? { body: found } : notFound(categoryId);
    },

    *updateCategory({ caller, requestId, params: { categoryId }, body, matches }) {
      return successOr(yield* categories.update(authorOf(caller, requestId), categoryId, body, matches), {
        "not found": () => notFound(categoryId),
        "not expected": () => versionMismatch("category", categoryId),
        metadata: tooMuchMetadata,
        "name taken": () => nameTaken,
      });
    },

    deleteCategory: {
      *change({ caller, requestId, params: { categoryId }, query: { moveTo }, matches }) {
        const outcome = yield* categories.delete(authorOf(caller, requestId), categoryId, moveTo, matches);
        return typeof outcome === "bigint" ? {} : deletion(outcome, categoryId, moveTo);
      },
      conclude: async ({ caller, requestId, params: { categoryId }, query: { moveTo } }) => {
        const author = authorOf(caller, requestId);
        return deletion(await categories.finishDeletion(author, categoryId, moveTo), categoryId, moveTo);
      },
    },
  };
}

function deletion(outcome: null | DeletionRefusal, id: bigint, moveTo: bigint | undefined) {
  return successOr(outcome, {
    "not found": () => notFound(id),
    "not expected": () => versionMismatch("category", id),
    "no target": () =>
      moveTo === id
        ? failure(moveTargetNotFound, "moveTo names the category that is being deleted. Choose another one.")
        : failure(moveTargetNotFound, `There is no category with the id ${moveTo} to move the animals to.`),
    "in use": ({ animals }) => {
      const who = animals === 1n ? "1 animal belongs" : `${animals} animals belong`;
      return failure(categoryInUse, `${who} to the category ${id}. Set moveTo to the category that they move to.`);
    },
  });
}

function notFound(id: bigint) {
  return failure(categoryNotFound, `No category has the id ${id}.`);
}

const nameTaken = failure(
  categoryNameTaken,
  "Another category already has this name, or one that differs only in letter case, white space or invisible characters.",
);
