import { failure } from "../../contract/errors.ts";
import type { Handlers } from "../../contract/operation.ts";
import { whenReady } from "../../timing/maybe-promise.ts";
import {
  orderedPetNotFound,
  orderNotConfirmed,
  orderNotFound,
  orderNotOpen,
  type orderOperations,
  petNotAvailable,
  type StoreOrderStatus,
} from "./orders.operations.ts";
import type { OrderStore } from "./orders.store.ts";

export function orderHandlers(orders: OrderStore): Handlers<typeof orderOperations> {
  return {
    listStoreOrders: ({ query: { limit, status, petId }, after }) => orders.page(after, limit, { status, petId }),

    *placeStoreOrder({ body }) {
      const outcome = yield* orders.place(body);
      if (outcome === "no animal") return failure(orderedPetNotFound, `No animal has the id ${body.petId}.`);
      if ("id" in outcome) return { body: outcome };
      const state = outcome.from === undefined ? "has no status" : `is ${outcome.from}`;
      return failure(petNotAvailable, `The animal ${body.petId} ${state}; only an available one can be ordered.`);
    },

    getStoreOrder: ({ params: { orderId } }) =>
      whenReady(orders.get(orderId), (found) => (found ? { body: found } : notFound(orderId))),

    *confirmStoreOrder({ params: { orderId } }) {
      const outcome = yield* orders.confirm(orderId);
      if (outcome === "no order") return notFound(orderId);
      return "id" in outcome ? { body: outcome } : notOpen(orderId, outcome.state);
    },

    *cancelStoreOrder({ params: { orderId } }) {
      const outcome = yield* orders.cancel(orderId);
      if (outcome === "no order") return notFound(orderId);
      return "id" in outcome ? { body: outcome } : notOpen(orderId, outcome.state);
    },

    *returnStoreOrder({ params: { orderId } }) {
      const outcome = yield* orders.return(orderId);
      if (outcome === "no order") return notFound(orderId);
      if (outcome === "no animal") {
        return failure(orderedPetNotFound, `The animal that the order ${orderId} sold was deleted.`);
      }
      if ("id" in outcome) return { body: outcome };
      return failure(
        orderNotConfirmed,
        `The order ${orderId} is ${outcome.state}; only a confirmed one can be returned.`,
      );
    },
  };
}

function notFound(id: bigint) {
  return failure(orderNotFound, `No order has the id ${id}.`);
}

function notOpen(id: bigint, state: StoreOrderStatus) {
  return failure(orderNotOpen, `The order ${id} is ${state}, and no longer open.`);
}
