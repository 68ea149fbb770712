import { type Static, Type } from "typebox";
import { defineError } from "../../contract/errors.ts";
import { defineOperation, type Tag } from "../../contract/operation.ts";
import { pagesOf } from "../../contract/paging.ts";
import { described, Int64, Text, Timestamp } from "../../contract/schemas.ts";

const store: Tag = {
  name: "store",
  description: "Orders: an animal is reserved, then sold or let go, and may be returned.",
  stability: "beta",
};

export const orderNotFound = defineError({
  code: "order_not_found",
  status: 404,
  meaning: "No order has this identifier.",
});
export const orderedPetNotFound = defineError({
  code: "ordered_pet_not_found",
  status: 409,
  meaning: "The animal of the order does not exist, or not any more.",
});
export const petNotAvailable = defineError({
  code: "pet_not_available",
  status: 409,
  meaning: "The animal cannot be ordered, because its status is not `available`. The message names its status.",
});
export const orderNotOpen = defineError({
  code: "order_not_open",
  status: 409,
  meaning: "The order's status is not `placed`, or its reservation has just ended. The message names its status.",
});
export const orderNotConfirmed = defineError({
  code: "order_not_confirmed",
  status: 409,
  meaning: "The order's status is not `confirmed`, so there is nothing to return. The message names its status.",
});

const StoreOrderStatus = Type.Enum(["placed", "confirmed", "cancelled", "expired", "returned"], {
  title: "StoreOrderStatus",
  type: "string",
  description:
    "State of an order. `placed` reserves the animal and becomes `confirmed`, `cancelled` or, when the reservation " +
    "ends, `expired`. `confirmed` can become `returned`.",
});
export type StoreOrderStatus = Static<typeof StoreOrderStatus>;

const newOrderProperties = {
  petId: Int64({ description: "Identifier of the animal.", examples: [1n] }),
  reference: Type.Optional(
    Text({
      description: "The client's own name for the order, such as the number of a receipt. Kept as it is.",
      minLength: 1,
      maxLength: 255,
      examples: ["receipt 2026-117"],
    }),
  ),
};

const NewStoreOrder = Type.Object(newOrderProperties, {
  title: "NewStoreOrder",
  description: "An order to place.",
  additionalProperties: false,
});
export type NewStoreOrder = Static<typeof NewStoreOrder>;

const StoreOrder = Type.Object(
  {
    id: Int64({ description: "Unique identifier assigned by the service.", examples: [1n] }),
    ...newOrderProperties,
    status: StoreOrderStatus,
    placedAt: Timestamp({ description: "When the order was placed." }),
    expiresAt: Timestamp({
      description: "When the reservation ends, unless the order is confirmed or cancelled before.",
    }),
    confirmedAt: Type.Optional(Timestamp({ description: "When the order was confirmed." })),
    cancelledAt: Type.Optional(Timestamp({ description: "When the order was cancelled." })),
    returnedAt: Type.Optional(Timestamp({ description: "When the animal was returned." })),
  },
  { title: "StoreOrder", description: "An order of one animal." },
);
export type StoreOrder = Static<typeof StoreOrder>;

const StoreOrders = Type.Array(StoreOrder, { title: "StoreOrders", description: "Orders, by ascending `id`." });

const placed: StoreOrder = {
  id: 1n,
  petId: 1n,
  reference: "receipt 2026-117",
  status: "placed",
  placedAt: "2026-11-21T12:00:00.000Z",
  expiresAt: "2026-11-21T12:15:00.000Z",
};
const bare: StoreOrder = {
  id: 2n,
  petId: 3n,
  status: "placed",
  placedAt: "2026-11-21T12:01:00.000Z",
  expiresAt: "2026-11-21T12:16:00.000Z",
};
const confirmed: StoreOrder = { ...placed, status: "confirmed", confirmedAt: "2026-11-21T12:05:00.000Z" };
const cancelled: StoreOrder = { ...placed, status: "cancelled", cancelledAt: "2026-11-21T12:05:00.000Z" };
const returned: StoreOrder = { ...confirmed, status: "returned", returnedAt: "2026-11-28T09:30:00.000Z" };

const params = {
  schema: Type.Object({ orderId: Int64({ description: "The identifier of the order.", examples: [1n] }) }),
  invalidError: orderNotFound,
};

/** What operations that change an order have in common. `order` is what becomes of the order of the examples. */
function changing<const Verb extends string>(verb: Verb, order: StoreOrder) {
  return {
    name: `${verb}StoreOrder`,
    method: "POST",
    path: `/store/orders/{orderId}/${verb}`,
    tag: store,
    params,
    answer: {
      status: 200,
      description: "The order as it is now.",
      schema: StoreOrder,
      examples: { [`A ${order.status} order`]: order },
      entityTag: true,
    },
  } as const;
}

const listStoreOrders = defineOperation({
  name: "listStoreOrders",
  method: "GET",
  path: "/store/orders",
  tag: store,
  summary: "List all orders",
  description:
    'Returns orders by ascending `id`, page by page: the `Link` header (`rel="next"`) holds the address of the next. ' +
    "Orders of every state are kept.",
  ...pagesOf({
    what: "orders",
    schema: StoreOrders,
    position: Int64({ description: "The `id` of an order.", examples: [1n] }),
    filters: {
      status: Type.Optional(described(StoreOrderStatus, "Filters orders by their state.")),
      petId: Type.Optional(Int64({ description: "Filters orders by their animal.", examples: [1n] })),
    },
    examples: { "Two orders": [confirmed, bare], "No order": [] },
  }),
});

const placeStoreOrder = defineOperation({
  name: "placeStoreOrder",
  method: "POST",
  path: "/store/orders",
  tag: store,
  summary: "Place an order",
  description:
    "Reserves an available animal: its status becomes `pending` until the order is confirmed, cancelled or expires. " +
    "Of many orders that are placed for one animal at once, exactly one succeeds. While the order is open, nothing " +
    "else changes the animal's status, and the animal cannot be deleted.",
  body: {
    schema: NewStoreOrder,
    examples: {
      "With a reference": { petId: 1n, reference: "receipt 2026-117" },
      "Without a reference": { petId: 3n },
    },
  },
  answer: {
    status: 201,
    description: "The order as it was placed.",
    schema: StoreOrder,
    examples: { "With a reference": placed, "Without a reference": bare },
    location: "/store/orders/{id}",
    entityTag: true,
  },
  errors: [petNotAvailable, orderedPetNotFound],
});

const getStoreOrder = defineOperation({
  name: "getStoreOrder",
  method: "GET",
  path: "/store/orders/{orderId}",
  tag: store,
  summary: "Get an order",
  description:
    "Returns the order with the given identifier. An order whose reservation has ended is shown as `expired`, and " +
    "its animal as available, within a second.",
  params,
  answer: { status: 200, description: "The order.", schema: StoreOrder, examples: { "An open order": placed } },
});

const confirmStoreOrder = defineOperation({
  ...changing("confirm", confirmed),
  summary: "Confirm an order",
  description: "Sells the animal: its status becomes `sold`. Refused from the moment on at which the reservation ends.",
  errors: [orderNotOpen],
});

const cancelStoreOrder = defineOperation({
  ...changing("cancel", cancelled),
  summary: "Cancel an order",
  description: "Lets the animal go: its status becomes `available`.",
  errors: [orderNotOpen],
});

const returnStoreOrder = defineOperation({
  ...changing("return", returned),
  summary: "Return the animal of an order",
  description: "Takes back the animal of a confirmed order: its status becomes `available`.",
  errors: [orderNotConfirmed, orderedPetNotFound],
});

export const orderOperations = [
  listStoreOrders,
  placeStoreOrder,
  getStoreOrder,
  confirmStoreOrder,
  cancelStoreOrder,
  returnStoreOrder,
] as const;
