import { failure, invalidInput, versionMismatch } from "../../contract/errors.ts";
import { type Handlers, successOr } from "../../contract/handler.ts";
import type { Clock } from "../../timing/clock.ts";
import { authorOf } from "../events/publish.ts";
import { tooMuchMetadata } from "../metadata/metadata.schemas.ts";
import { noCurrency } from "../shops/prices.ts";
import { orderChanges } from "./order-changes.ts";
import {
  orderedPetNotFound,
  orderNotConfirmed,
  orderNotFound,
  orderNotOpen,
  type orderOperations,
  petNotAvailable,
  soldPetDeleted,
} from "./orders.operations.ts";
import type { StoreOrderStatus } from "./orders.schemas.ts";
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
      return successOr(yield* orders.place(authorOf(caller, requestId), body), {
        "not found": () => failure(orderedPetNotFound, `No animal has the id ${body.petId}.`),
        transition: ({ from }) => {
          const state = from === undefined ? "has no status" : `is ${from}`;
          return failure(petNotAvailable, `The animal ${body.petId} ${state}; only an available one can be ordered.`);
        },
        "no currency": noCurrency,
        "wrong end": wrongEnd,
      });
    },

    *getStoreOrder({ caller, params: { orderId } }) {
      const found = yield* orders.get(caller.shop, orderId);
      return found ? { body: found } : notFound(orderId);
    },

    *updateStoreOrder({ caller, requestId, params: { orderId }, body, matches }) {
      return successOr(yield* orders.update(authorOf(caller, requestId), orderId, body, matches), {
        "not found": () => notFound(orderId),
        "not expected": () => versionMismatch("order", orderId),
        metadata: tooMuchMetadata,
        "no currency": noCurrency,
        "wrong end": wrongEnd,
        "wrong status": ({ status }) =>
          failure(orderNotOpen, `The order ${orderId} is ${status}, so its reservation has no end that could change.`),
      });
    },

    *confirmStoreOrder({ caller, requestId, params: { orderId }, body, matches }) {
      return successOr(yield* orders.confirm(authorOf(caller, requestId), orderId, matches, body), {
        ...failuresOfOpen(orderId),
        "no currency": noCurrency,
      });
    },

    *cancelStoreOrder({ caller, requestId, params: { orderId }, matches }) {
      return successOr(
        yield* orders.change(authorOf(caller, requestId), orderId, orderChanges.cancel, matches),
        failuresOfOpen(orderId),
      );
    },

    *returnStoreOrder({ caller, requestId, params: { orderId }, matches }) {
      return successOr(yield* orders.change(authorOf(caller, requestId), orderId, orderChanges.return, matches), {
        "not found": () => notFound(orderId),
        "not expected": () => versionMismatch("order", orderId),
        "wrong status": ({ status }) =>
          failure(orderNotConfirmed, `The order ${orderId} is ${status}; only a confirmed one can be returned.`),
        // A sold animal may be deleted. Only its order can change its status.
        "pet mismatch": () => failure(soldPetDeleted, `The animal that the order ${orderId} sold was deleted.`),
      });
    },
  };
}

export function salesHandlers(clock: Clock): Handlers<typeof salesOperations> {
  return {
    *getSales({ caller, query, pageBytes }) {
      return successOr(yield* readSales(caller.shop, query, clock.now(), pageBytes), {
        "wrong span": ({ parameter, message }) => invalidInput([{ path: `/query/${parameter}`, message }]),
      });
    },
  };
}

function notFound(id: bigint) {
  return failure(orderNotFound, `No order has the id ${id}.`);
}

function wrongEnd({ message }: { readonly message: string }) {
  return invalidInput([{ path: "/body/expiresAt", message }]);
}

/** The failures of a change of an open order. */
function failuresOfOpen(id: bigint) {
  return {
    "not found": () => notFound(id),
    "not expected": () => versionMismatch("order", id),
    "wrong status": ({ status }: { readonly status: StoreOrderStatus }) =>
      failure(orderNotOpen, `The order ${id} is ${status}, so it is no longer open.`),
    // Only the open order can change its animal.
    "pet mismatch": ({ problem }: { readonly problem: string }): never => {
      throw new Error(problem);
    },
  };
}
