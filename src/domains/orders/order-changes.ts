import type { ShopNumber } from "../../contract/caller.ts";
import { type Failure, failure } from "../../contract/errors.ts";
import type { EventFilter } from "../../contract/event-filter.ts";
import type { EventType } from "../../contract/operation.ts";
import { Int64 } from "../../contract/schemas.ts";
import { type IdRow, query } from "../../storage/statement.ts";
import { count } from "../../storage/table.ts";
import { first } from "../../storage/transaction.ts";
import { eventsOf } from "../events/new-event.ts";
import type { PetStatus } from "../pets/pets.schemas.ts";
import type { StatusCause } from "../pets/transitions.ts";
import { countColumn, type DayFigure, eventsWhere, type ShopFigures } from "../shops/figures.ts";
import { figure } from "../shops/shops.operations.ts";
import {
  orderCancelled,
  orderConfirmed,
  orderExpired,
  orderNotConfirmed,
  orderNotOpen,
  orderReturned,
  soldPetDeleted,
} from "./orders.operations.ts";
import type { StoreOrder, StoreOrderStatus } from "./orders.schemas.ts";

/** The new status of an animal, and why it gets it. */
export type PetChange = [to: PetStatus, cause: StatusCause];

/** A change of an order by a client: the required status, the new one, its event, and the new status of the animal. */
export interface OrderChange<F extends Failure = Failure> {
  readonly from: "placed" | "confirmed";
  readonly to: "confirmed" | "cancelled" | "returned";
  readonly event: typeof orderConfirmed | typeof orderCancelled | typeof orderReturned;
  readonly pet: Readonly<PetChange>;
  /** The failure for an order with another status, or with the required one, but without its animal. */
  readonly refuse: (id: bigint, status: StoreOrderStatus) => F;
}

const notOpen = (id: bigint, status: StoreOrderStatus) =>
  failure(orderNotOpen, `The order ${id} is ${status}, so it is no longer open.`);
const notConfirmed = (id: bigint, status: StoreOrderStatus) =>
  status === "confirmed"
    ? failure(soldPetDeleted, `The animal that the order ${id} sold was deleted.`)
    : failure(orderNotConfirmed, `The order ${id} is ${status}; only a confirmed one can be returned.`);

/** All changes of an order's status by clients. */
export const orderChanges = {
  confirm: {
    from: "placed",
    to: "confirmed",
    event: orderConfirmed,
    pet: ["sold", "order_confirmed"],
    refuse: notOpen,
  },
  cancel: {
    from: "placed",
    to: "cancelled",
    event: orderCancelled,
    pet: ["available", "order_cancelled"],
    refuse: notOpen,
  },
  return: {
    from: "confirmed",
    to: "returned",
    event: orderReturned,
    pet: ["available", "order_returned"],
    refuse: notConfirmed,
  },
} as const satisfies Readonly<Record<string, OrderChange>>;

/** Makes the events of an order. */
export const orderEvent = eventsOf<StoreOrder>(({ id, petId }) => ({ under: petId, subjectId: String(id) }));

const petOfOrder = query<[shop: ShopNumber, id: bigint], IdRow>(
  "SELECT pet_id AS id FROM store_orders WHERE shop = $1 AND id = $2",
);

/** Selects the events of an order. The log has them under its animal, which never changes. */
export const orderEventFilter: EventFilter = {
  name: "orderId",
  schema: Int64({ description: "Only events of this order.", examples: [1n] }),
  *find(shop, id) {
    const pet = yield* first(petOfOrder, shop, id);
    return pet && { under: pet.id, subject: String(id) };
  },
  passes: ({ subject }, id) => subject.type === "order" && subject.id === id,
};

const ofDay = (name: string, description: string, { type }: EventType, example = 0): DayFigure => ({
  name,
  field: name,
  description,
  example,
  inEvents: eventsWhere(`type = '${type}'`),
});
export const sold = ofDay("sold", "Orders that were confirmed.", orderConfirmed, 1);
export const expired = ofDay("expired", "Orders that expired.", orderExpired);
export const returned = ofDay("returned", "Orders whose animal was returned.", orderReturned);
/** The column of how many orders are `placed`. */
export const openOrders = countColumn("open_orders");

/** What the row of a shop holds of its orders. */
export const orderFigures: ShopFigures = {
  of: "open orders",
  columns: { last_order_id: count, [openOrders]: count },
  today: [sold, expired, returned],
  fields: {
    openOrders: {
      schema: figure("Orders that are `placed`.", 1),
      example: 1,
      read: ([row]) => Number(row[openOrders]),
    },
  },
};
