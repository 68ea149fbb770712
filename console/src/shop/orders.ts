import type { Petstore, StoreOrder } from "petstore-client";
import type { OperationName } from "../contract.ts";
import { invalidate, updateCache } from "../service/query.ts";
import { say, sayFailure } from "../ui/toasts.tsx";
import { replaceItem } from "./lists.ts";
import { PETS } from "./pets.ts";

/** Prefix of the query keys of responses with orders. */
export const ORDERS = "orders";

/** The possible actions for an order in each state. */
interface OrderAction {
  readonly name: string;
  readonly done: string;
  readonly operation: OperationName & ("confirmStoreOrder" | "cancelStoreOrder" | "returnStoreOrder");
}

export const orderActions: Readonly<Record<string, readonly OrderAction[]>> = {
  placed: [
    { name: "Confirm", done: "confirmed", operation: "confirmStoreOrder" },
    { name: "Cancel", done: "cancelled", operation: "cancelStoreOrder" },
  ],
  confirmed: [{ name: "Return", done: "returned", operation: "returnStoreOrder" }],
};

/** The label of an order: its reference, or else its number. */
export const orderName = ({ id, reference }: StoreOrder): string => reference ?? `Order ${id}`;

/** Shows an order as it is now, wherever it is listed. */
export function showOrder(order: StoreOrder): void {
  updateCache<readonly StoreOrder[]>(`${ORDERS}?`, (orders) => replaceItem(orders, order));
}

export async function changeOrder(
  petstore: Petstore,
  order: StoreOrder,
  { operation, done }: OrderAction,
): Promise<void> {
  try {
    showOrder(await petstore[operation](order.id));
    say(`${orderName(order)}: ${done}`);
  } catch (error) {
    sayFailure(orderName(order), error);
    invalidate(ORDERS);
  }
  invalidate(PETS);
}
