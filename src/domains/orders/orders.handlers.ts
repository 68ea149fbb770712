import { invalidInput } from "../../contract/errors.ts";
import { type Handlers, responseWith } from "../../contract/handler.ts";
import type { Clock } from "../../timing/clock.ts";
import { authorOf } from "../events/publish.ts";
import { orderChanges } from "./order-changes.ts";
import type { orderOperations } from "./orders.operations.ts";
import type { OrderStore } from "./orders.store.ts";
import type { salesOperations } from "./sales.operations.ts";
import { readSales } from "./sales.store.ts";

export function orderHandlers(orders: OrderStore): Handlers<typeof orderOperations> {
  return {
    *listStoreOrders({ caller, query, after }) {
      if (query.search && query.sort)
        return invalidInput([
          { path: "/query/sort", message: "cannot be combined with search, which has its own order" },
        ]);
      return yield* orders.page(caller.shop, after, query.limit, query);
    },

    *placeStoreOrder({ caller, requestId, body }) {
      return responseWith(yield* orders.place(authorOf(caller, requestId), body));
    },

    *getStoreOrder({ caller, params: { orderId } }) {
      return responseWith(yield* orders.get(caller.shop, orderId));
    },

    *updateStoreOrder({ caller, requestId, params: { orderId }, body, matches }) {
      return responseWith(yield* orders.update(authorOf(caller, requestId), orderId, body, matches));
    },

    *confirmStoreOrder({ caller, requestId, params: { orderId }, body, matches }) {
      return responseWith(yield* orders.confirm(authorOf(caller, requestId), orderId, matches, body));
    },

    *cancelStoreOrder({ caller, requestId, params: { orderId }, matches }) {
      return responseWith(yield* orders.change(authorOf(caller, requestId), orderId, orderChanges.cancel, matches));
    },

    *returnStoreOrder({ caller, requestId, params: { orderId }, matches }) {
      return responseWith(yield* orders.change(authorOf(caller, requestId), orderId, orderChanges.return, matches));
    },
  };
}

export function salesHandlers(clock: Clock): Handlers<typeof salesOperations> {
  return {
    *getSales({ caller, query, pageBytes }) {
      return responseWith(yield* readSales(caller.shop, query, clock.now(), pageBytes));
    },
  };
}
