import type { Petstore, StoreOrder } from "petstore-client";
import type { OperationName } from "../generated/contract.ts";
import { invalidate, updateCache } from "../service/query.ts";
import { say, sayFailure } from "../ui/toasts.tsx";
import { replaceItem } from "./lists.ts";
import { nameOf } from "./pet-name.tsx";
import { PETS } from "./pets.ts";

/** Prefix of the query keys of responses with orders. */
export const ORDERS = "orders";

/** What can be done with an order. */
interface OrderAction {
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
  name: "Confirm sale",
  done: "sold",
  operation: "confirmStoreOrder",
  undo: returnOrder,
};

/** The possible actions for an order in each state. */
export const orderActions: Readonly<Record<string, readonly OrderAction[]>> = {
  placed: [sell, { name: "Cancel", done: "not reserved any more, and available again", operation: "cancelStoreOrder" }],
  confirmed: [returnOrder],
};

/** The label of an order: its reference, or else its number. */
export const orderName = ({ id, reference }: StoreOrder): string => reference ?? `Order ${id}`;

/** Shows an order as it is now, wherever it is listed. */
export function showOrder(order: StoreOrder): void {
  updateCache<readonly StoreOrder[]>(`${ORDERS}?`, (orders) => replaceItem(orders, order.id, order));
}

/** Changes an order, and reports the new state of its animal. */
export async function changeOrder(petstore: Petstore, order: StoreOrder, action: OrderAction): Promise<void> {
  const { operation, done, undo } = action;
  const name = nameOf(order.petId);
  try {
    showOrder(await petstore[operation](order.id));
    say(`${name}: ${done}`, undo && (() => void changeOrder(petstore, order, undo)));
  } catch (error) {
    sayFailure(name, error);
    invalidate(ORDERS);
  }
  invalidate(PETS);
}
