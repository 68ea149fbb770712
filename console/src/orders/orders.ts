import type { Petstore, StoreOrder } from "petstore-client";
import { nameOf, referenceOf } from "../animals/pet-name.tsx";
import { PETS } from "../animals/pets.ts";
import type { OperationName } from "../generated/contract.ts";
import { replaceItem } from "../service/lists.ts";
import { invalidate, updateCache } from "../service/query.ts";
import { askFirst } from "../ui/confirm.tsx";
import { moneyOf } from "../ui/money.ts";
import { say, sayFailure } from "../ui/toasts.tsx";
import { countOf } from "../ui/words.ts";

/** Prefix of the query keys of responses with orders. */
export const ORDERS = "orders";

/** Prefix of the query keys of the orders of the animals that a page lists. */
export const ORDERS_OF = `${ORDERS} of?`;

/** What can be done with an order. */
export interface OrderAction {
  readonly name: string;
  /** What the message says about the animal afterwards. */
  readonly done: string;
  readonly operation: OperationName & ("confirmStoreOrder" | "cancelStoreOrder" | "returnStoreOrder");
  /** The action that undoes it. */
  readonly undo?: OrderAction;
}

const returnOrder: OrderAction = {
  name: "Return",
  done: "returned, and available again",
  operation: "returnStoreOrder",
};
export const sell: OrderAction = {
  name: "Sell",
  done: "sold",
  operation: "confirmStoreOrder",
  undo: returnOrder,
};

const cancelOrder: OrderAction = {
  name: "Release",
  done: "is available again",
  operation: "cancelStoreOrder",
};

/** What a reservation does. It is no change of an order, but is undone by one. */
export const reserve = { done: "reserved", undo: cancelOrder };

/** The possible actions for an order in each state. */
export const orderActions: Readonly<Record<string, readonly OrderAction[]>> = {
  placed: [sell, cancelOrder],
  confirmed: [returnOrder],
};

/** The label of an order: its reference, or else its number. */
export const orderName = ({ id, reference }: StoreOrder): string => reference ?? `Order ${id}`;

/** Shows an order as it is now, wherever it is listed. */
export function showOrder(order: StoreOrder): void {
  updateCache<StoreOrder>(`${ORDERS}/${order.id}`, () => order);
  updateCache<readonly StoreOrder[]>(`${ORDERS}?`, (orders) => replaceItem(orders, order.id, order));
  updateCache<readonly StoreOrder[]>(ORDERS_OF, (orders) => {
    const isNew = orders.every(({ id }) => id < order.id);
    return isNew ? [order, ...orders] : replaceItem(orders, order.id, order); // one of another animal does no harm
  });
}

/** Says what has happened to the animal of an order, and offers to undo it. */
export function sayDone(
  petstore: Petstore,
  order: StoreOrder,
  { done, undo }: Pick<OrderAction, "done" | "undo">,
): void {
  const price = order.status === "confirmed" && order.price ? ` for ${moneyOf(order.price)}` : "";
  const act = undo && (() => void changeOrder(petstore, order, undo));
  say(`${nameOf(order.petId)} ${done}${price}`, act, undefined, order.petId);
}

/** Changes an order, and reports the new state of its animal. */
async function changeOrder(petstore: Petstore, order: StoreOrder, action: OrderAction): Promise<void> {
  try {
    const changed = await petstore[action.operation](order.id);
    showOrder(changed);
    sayDone(petstore, changed, action);
  } catch (error) {
    sayFailure(nameOf(order.petId), error);
    invalidate(ORDERS);
  }
  invalidate(PETS);
}

/** Does what a button says: takes an animal back after a question, and the rest at once. */
export function actOn(petstore: Petstore, order: StoreOrder, action: OrderAction): void | Promise<void> {
  const run = () => changeOrder(petstore, order, action);
  if (action !== returnOrder) return run();
  const name = nameOf(order.petId);
  const { price } = order;
  const paid = price ? `${moneyOf(price)} will be paid back.` : "It was sold without a price.";
  askFirst({
    title: `Return ${name}?`,
    text: `${paid} ${name} (${referenceOf({ id: order.petId })}) is available again.`,
    submit: "Return",
    run: () => void run(),
  });
}

/** Says that several animals were sold, and offers to undo all of it. */
export function saySeveralSold(petstore: Petstore, orders: readonly StoreOrder[]): void {
  const all = [...orders];
  const undo = () =>
    void Promise.all(all.map(async (order) => showOrder(await petstore.returnStoreOrder(order.id))))
      .catch((error: unknown) => sayFailure("Not all sales were undone", error))
      .finally(() => invalidate(ORDERS, PETS));
  say(`${countOf(all.length, "animal")} sold`, undo);
}
