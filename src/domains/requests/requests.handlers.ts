import { failure } from "../../contract/errors.ts";
import type { Handlers } from "../../contract/handler.ts";
import type { Operation } from "../../contract/operation.ts";
import { errorCatalogue } from "../../contract/operation-properties.ts";
import { toRequestRecord } from "./request-record.ts";
import { requestNotFound, type requestOperations } from "./requests.operations.ts";
import type { RequestStore } from "./requests.store.ts";

/** Handlers that explain requests of the given operations, which are all that the service serves. */
export function requestHandlers(
  store: RequestStore,
  operations: readonly Operation[],
): Handlers<typeof requestOperations> {
  const catalogue = errorCatalogue(operations);
  return {
    *listRequests({ caller, query: { limit, ...filters }, after }) {
      const { items, ...rest } = yield* store.page(caller.shop, filters, after, limit);
      return { items: items.map((request) => toRequestRecord(request, catalogue)), ...rest };
    },

    *getRequest({ caller, params: { requestId } }) {
      const found = yield* store.get(caller.shop, requestId);
      return found
        ? { body: toRequestRecord(found, catalogue) }
        : failure(requestNotFound, `The shop has no request record with the id ${requestId}.`);
    },
  };
}
