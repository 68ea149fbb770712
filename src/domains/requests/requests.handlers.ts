import { failure } from "../../contract/errors.ts";
import type { Handlers } from "../../contract/handler.ts";
import { whenReady } from "../../timing/maybe-promise.ts";
import { readFilters } from "./read-filters.ts";
import { requestNotFound, type requestOperations } from "./requests.operations.ts";
import type { RequestStore } from "./requests.store.ts";
import { toRequestRecord } from "./to-request-record.ts";

export function requestHandlers(store: RequestStore): Handlers<typeof requestOperations> {
  return {
    listRequests: ({ caller, query: { limit, ...filters }, after }) =>
      whenReady(store.page(caller.shop, readFilters(filters), after, limit), ({ items, ...rest }) => ({
        items: items.map(toRequestRecord),
        ...rest,
      })),

    getRequest: ({ caller, params: { requestId } }) =>
      whenReady(store.get(caller.shop, requestId), (found) =>
        found
          ? { body: toRequestRecord(found) }
          : failure(requestNotFound, `The shop has no request record with the id ${requestId}.`),
      ),
  };
}
