import { failure } from "../../contract/errors.ts";
import type { Handlers } from "../../contract/operation.ts";
import { whenReady } from "../../maybe-promise.ts";
import {
  categoryExists,
  categoryInUse,
  categoryNameTaken,
  categoryNotFound,
  type categoryOperations,
  moveTargetNotFound,
} from "./categories.operations.ts";
import type { CategoryStore } from "./categories.store.ts";

export function categoryHandlers(categories: CategoryStore): Handlers<typeof categoryOperations> {
  return {
    listCategories: ({ query: { limit }, after }) => categories.page(after, limit),

    createCategory: async ({ body }) => {
      const outcome = await categories.add(body);
      if (outcome === "id taken") return failure(categoryExists, `There is a category with the id ${body.id}.`);
      return outcome === "name taken" ? nameTaken : { body: outcome };
    },

    getCategory: ({ params: { categoryId } }) =>
      whenReady(categories.get(categoryId), (found) => (found ? { body: found } : notFound(categoryId))),

    renameCategory: async ({ params: { categoryId }, body: { name } }) => {
      const outcome = await categories.rename(categoryId, name);
      if (outcome === "not found") return notFound(categoryId);
      return outcome === "name taken" ? nameTaken : { body: outcome };
    },

    deleteCategory: async ({ params: { categoryId }, query: { moveTo } }) => {
      const outcome = await categories.delete(categoryId, moveTo);
      if (outcome === "deleted") return { body: null };
      if (outcome === "not found") return notFound(categoryId);
      if (outcome === "no target") {
        return moveTo === categoryId
          ? failure(moveTargetNotFound, "The animals of a category cannot be moved to itself.")
          : failure(moveTargetNotFound, `There is no category with the id ${moveTo} to move the animals to.`);
      }
      const { animals } = outcome;
      const who = animals === 1n ? "1 animal belongs" : `${animals} animals belong`;
      return failure(categoryInUse, `${who} to the category ${categoryId}. Say with moveTo where to move them.`);
    },
  };
}

function notFound(id: bigint) {
  return failure(categoryNotFound, `No category has the id ${id}.`);
}

const nameTaken = failure(categoryNameTaken, "Another category has this name.");
