import { type Handlers, responseWith } from "../../contract/handler.ts";
import { authorOf } from "../events/publish.ts";
import type { categoryOperations } from "./categories.operations.ts";
import type { CategoryStore } from "./categories.store.ts";

export function categoryHandlers(categories: CategoryStore): Handlers<typeof categoryOperations> {
  return {
    listCategories: ({ caller, query: { limit }, after }) => categories.page(caller.shop, after, limit),

    *createCategory({ caller, requestId, body }) {
      return responseWith(yield* categories.add(authorOf(caller, requestId), body));
    },

    *getCategory({ caller, params: { categoryId } }) {
      return responseWith(yield* categories.get(caller.shop, categoryId));
    },

    *updateCategory({ caller, requestId, params: { categoryId }, body, matches }) {
      return responseWith(yield* categories.update(authorOf(caller, requestId), categoryId, body, matches));
    },

    deleteCategory: {
      *change({ caller, requestId, params: { categoryId }, query: { moveTo }, matches }) {
        const outcome = yield* categories.delete(authorOf(caller, requestId), categoryId, moveTo, matches);
        return typeof outcome === "bigint" ? {} : responseWith(outcome);
      },
      conclude: async ({ caller, requestId, params: { categoryId }, query: { moveTo } }) =>
        responseWith(await categories.finishDeletion(authorOf(caller, requestId), categoryId, moveTo)),
    },
  };
}
