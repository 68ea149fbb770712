import { type Static, Type } from "typebox";
import { defineError, invalidRequest, preconditionFailed } from "../../contract/errors.ts";
import { defineEvent, defineOperation, type Tag } from "../../contract/operation.ts";
import { filterByIds, pagesOf } from "../../contract/paging.ts";
import { Choice, DateTime, described, Int64, Text } from "../../contract/schemas.ts";
import {
  ConfirmedStoreOrder,
  categoryId,
  keyId,
  NewStoreOrder,
  reference,
  StoreOrder,
  StoreOrderConfirmation,
  StoreOrderPatch,
  StoreOrderStatus,
  StoreOrders,
  seller,
} from "./orders.schemas.ts";

export const store: Tag = {
  name: "store",
  description: "Orders reserve an animal, then sell or release it. A sold animal can be returned.",
  stability: "stable",
};

export const orderNotFound = defineError({
  code: "order_not_found",
  status: 404,
  meaning: "No order has this identifier.",
});
export const orderedPetNotFound = defineError({
  code: "ordered_pet_not_found",
  status: 422,
  meaning: "The animal that the order is for does not exist.",
});
export const soldPetDeleted = defineError({
  code: "pet_deleted",
  status: 409,
  meaning: "The animal that the order sold was deleted, so that it cannot be returned.",
});
export const petNotAvailable = defineError({
  code: "pet_not_available",
  status: 409,
  meaning: "The animal cannot be ordered, because its status is not `available`. The message names its status.",
});
export const orderNotOpen = defineError({
  code: "order_not_open",
  status: 409,
  meaning: "The order's status is not `placed`, or its reservation has ended. The message names its status.",
});
export const orderNotConfirmed = defineError({
  code: "order_not_confirmed",
  status: 409,
  meaning: "The order's status is not `confirmed`, so there is nothing to return. The message names its status.",
});

const change = { data: StoreOrder, previous: StoreOrder } as const;
export const orderPlaced = defineEvent({
  type: "order.placed",
  meaning: "An order reserved an animal.",
  data: StoreOrder,
});
export const orderConfirmed = defineEvent({
  ...change,
  data: ConfirmedStoreOrder,
  type: "order.confirmed",
  meaning: "An order was confirmed, and its animal is now sold.",
});
export const orderCancelled = defineEvent({
  ...change,
  type: "order.cancelled",
  meaning: "An order was cancelled, and its animal is available again.",
});
export const orderExpired = defineEvent({
  ...change,
  type: "order.expired",
  meaning: "The reservation of an order ended.",
});
export const orderReturned = defineEvent({ ...change, type: "order.returned", meaning: "A sold animal was returned." });
export const orderUpdated = defineEvent({
  ...change,
  type: "order.updated",
  meaning: "The reference, price, metadata or end of reservation of an order was changed.",
});
export const orderEventTypes = [
  orderPlaced,
  orderConfirmed,
  orderCancelled,
  orderExpired,
  orderReturned,
  orderUpdated,
] as const;

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
const sale = {
  price: { amount: 24_900n, currency: "EUR" },
  seller: "Maria",
  confirmedBy: { keyId: "key_5fQ0c2mN8xWbT1Lz", name: "till" },
  petName: "Rex",
  categoryId: 1n,
};
const confirmed: StoreOrder = {
  ...placed,
  ...sale,
  status: "confirmed",
  confirmedAt: "2026-11-21T12:05:00.000Z",
};
const sold: StoreOrder = { ...confirmed, confirmedAt: placed.placedAt };
const cancelled: StoreOrder = { ...placed, status: "cancelled", cancelledAt: "2026-11-21T12:05:00.000Z" };
const returned: StoreOrder = { ...confirmed, status: "returned", returnedAt: "2026-11-28T09:30:00.000Z" };

const params = {
  schema: Type.Object({ orderId: Int64({ description: "The identifier of the order.", examples: [1n] }) }),
  invalidError: orderNotFound,
};

/** The common part of the operations that change an order's status. `order` is the example order after the change. */
function changing<const Verb extends string>(verb: Verb, order: StoreOrder) {
  return {
    name: `${verb}StoreOrder`,
    method: "POST",
    path: `/store/orders/{orderId}/${verb}`,
    tag: store,
    params,
    ifMatch: StoreOrder,
    emits: [`order.${order.status}`, "pet.updated"],
    response: {
      status: 200,
      description: "The order as it is now.",
      schema: StoreOrder,
      examples: { [`A ${order.status} order`]: order },
      entityTag: true,
    },
  } as const;
}

/** The characters of a reference by which orders are searched. */
export const MAX_SEARCH = 64;

/** The query parameters that filter and sort orders. */
const filters = {
  status: Type.Optional(described(StoreOrderStatus, "Filters orders by status.")),
  ids: filterByIds("order", "Filters orders by `id`. One id gives the order's `ETag`."),
  petId: filterByIds("animal", "Filters orders by animal."),
  reference: Type.Optional({ ...reference, description: "Filters orders by exact `reference`." }),
  since: Type.Optional(DateTime({ description: "Only orders placed at or after this time." })),
  until: Type.Optional(DateTime({ description: "Only orders placed before this time." })),
  confirmedSince: Type.Optional(DateTime({ description: "Only orders confirmed at or after this time." })),
  confirmedUntil: Type.Optional(DateTime({ description: "Only orders confirmed before this time." })),
  confirmedBy: Type.Optional(
    Type.String({ ...keyId, description: "Only orders that this key confirmed.", pattern: "^[0-9A-Za-z_]+$" }),
  ),
  seller: Type.Optional({ ...seller, description: "Filters orders by exact `seller`." }),
  categoryId: Type.Optional({ ...categoryId, description: "Only orders that sold an animal of this category." }),
  search: Type.Optional(
    Text({
      description:
        "Returns the order with this `id`, then those whose `reference` begins with this text, ignoring case, in the order of " +
        `the first ${MAX_SEARCH} characters, then of the \`id\`. Not with \`sort\`. An empty text searches nothing.`,
      maxLength: MAX_SEARCH,
      default: "",
    }),
  ),
  sort: Type.Optional(
    Choice(["id", "-id", "confirmedAt", "-confirmedAt"], {
      title: "StoreOrderSort",
      description:
        "Sort order: `id`, the default, returns the oldest orders first, `-id` the newest. `confirmedAt` and " +
        "`-confirmedAt` return only orders that were confirmed.",
    }),
  ),
};

const Filters = Type.Object(filters);
/** The filters and sort order of a list of orders. */
export type OrderFilters = Static<typeof Filters>;

const listStoreOrders = defineOperation({
  name: "listStoreOrders",
  method: "GET",
  path: "/store/orders",
  tag: store,
  summary: "List all orders",
  aliases: ["transactions", "invoices"],
  description:
    "Returns orders one page at a time. Orders are never deleted. A page can hold fewer than `limit` orders, or none, " +
    "although more follow: continue while there is a `Link`.",
  ...pagesOf({
    what: "orders",
    schema: StoreOrders,
    position: Type.String({
      description: "The `id` of an order, after the start of its reference in a search, or `#` for its first result.",
      examples: ["1"],
    }),
    filters,
    ids: "ids",
    examples: { "Two orders": [confirmed, bare], "No order": [] },
  }),
  // A search with a sort order.
  errors: [invalidRequest],
});

const placeStoreOrder = defineOperation({
  name: "placeStoreOrder",
  method: "POST",
  path: "/store/orders",
  tag: store,
  summary: "Place an order",
  aliases: ["sell", "buy", "purchase", "checkout", "cart", "reserve", "reservations"],
  description:
    "Reserves an available animal. Its status is `pending` until the order is confirmed, cancelled or expires. If " +
    "several clients order the same animal at once, exactly one succeeds. While the order is open, only the order " +
    "changes the animal's status, and the animal cannot be deleted.\n\nWith `confirm`, the order sells the animal in the " +
    "same transaction.",
  body: {
    schema: NewStoreOrder,
    examples: {
      "With a reference": { petId: 1n, reference: "receipt 2026-117" },
      "Without a reference": { petId: 3n },
      "A sale": {
        petId: 1n,
        reference: "receipt 2026-117",
        price: { amount: 24_900n, currency: "EUR" },
        seller: "Maria",
        confirm: true,
      },
    },
  },
  agentTools: {
    sell_animal: {
      does: "acts",
      takes: ["petId", "reference", ["price_amount", "price.amount"], ["currency", "price.currency"], "seller"],
      fixed: { confirm: true },
      gives: "order",
      text: "Sell an available animal: an order that is placed and confirmed at once.",
    },
  },
  emits: ["order.placed", "order.confirmed", "pet.updated", "order.expired"],
  response: {
    status: 201,
    description: "The order as it is now.",
    schema: StoreOrder,
    narrowed: { by: "confirm", schema: ConfirmedStoreOrder },
    examples: { "With a reference": placed, "Without a reference": bare, "A sale": sold },
    location: "/store/orders/{id}",
    entityTag: true,
  },
  // An invalid request: a price without a currency, in a shop without one.
  errors: [invalidRequest, petNotAvailable, orderedPetNotFound],
});

const getStoreOrder = defineOperation({
  name: "getStoreOrder",
  method: "GET",
  path: "/store/orders/{orderId}",
  tag: store,
  summary: "Get an order",
  description:
    "Returns the order with the given identifier. Within a second after its reservation ends, an order becomes " +
    "`expired` and its animal available.",
  params,
  response: { status: 200, description: "The order.", schema: StoreOrder, examples: { "An open order": placed } },
});

const updateStoreOrder = defineOperation({
  name: "updateStoreOrder",
  method: "PATCH",
  path: "/store/orders/{orderId}",
  tag: store,
  summary: "Change an order",
  aliases: ["extend", "prolong"],
  description:
    "Changes the reference, price or metadata of an order in any status, or the end of its reservation while it is " +
    "`placed` (JSON Merge Patch, RFC 7396), and returns the order. A price that is changed after the sale corrects the " +
    "figures of the day of the sale. With `If-Match`, the change succeeds only if the order is still the version that you read.",
  params,
  body: {
    schema: StoreOrderPatch,
    examples: {
      "A pair": { metadata: { till: "3" } },
      "A lower price": { price: { amount: 19_900n } },
      "No reference": { reference: null },
    },
  },
  ifMatch: StoreOrder,
  emits: ["order.updated"],
  response: {
    status: 200,
    description: "The order as it is now.",
    schema: StoreOrder,
    examples: { "An open order": { ...placed, metadata: { till: "3" } } },
    entityTag: true,
  },
  // An order that is not open: its reservation has no end that could be changed.
  errors: [preconditionFailed, invalidRequest, orderNotOpen],
});

const confirmStoreOrder = defineOperation({
  ...changing("confirm", confirmed),
  summary: "Confirm an order",
  aliases: ["complete", "pay", "payments"],
  description:
    "Sells the animal: its status becomes `sold`. The order keeps who sold it, and the animal's name and category. " +
    "Fails once the reservation has ended.",
  body: {
    schema: StoreOrderConfirmation,
    optional: true,
    examples: { "A price": { price: { amount: 24_900n, currency: "EUR" } } },
  },
  errors: [invalidRequest, preconditionFailed, orderNotOpen],
});

const cancelStoreOrder = defineOperation({
  ...changing("cancel", cancelled),
  summary: "Cancel an order",
  description: "Releases the animal: its status becomes `available`.",
  errors: [preconditionFailed, orderNotOpen],
});

const returnStoreOrder = defineOperation({
  ...changing("return", returned),
  summary: "Return the animal of an order",
  aliases: ["refund", "refunds"],
  description: "Takes back the animal of a confirmed order: its status becomes `available`.",
  agentTools: {
    return_animal: { does: "overwrites", takes: ["orderId"], gives: "order", text: "Take back the animal of a sale." },
  },
  errors: [preconditionFailed, orderNotConfirmed, soldPetDeleted],
});

export const orderOperations = [
  listStoreOrders,
  placeStoreOrder,
  getStoreOrder,
  updateStoreOrder,
  confirmStoreOrder,
  cancelStoreOrder,
  returnStoreOrder,
] as const;
