import type { NewStoreOrder, OnceOptions, Petstore, StoreOrder } from "petstore-client";
import { ORDERS } from "../orders/orders.ts";
import { useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { useFigures } from "../shop/figures.ts";
import type { Picked } from "./pet-picker.tsx";

/** The order that holds an animal for a buyer. One that has ended says nothing about the animal. */
export const openOrderOf = ({ pet, order }: Picked): StoreOrder | undefined =>
  pet.status === "pending" && order?.status === "placed" ? order : undefined;

/** What is available, or reserved, which is sold from its reservation. */
export const canSell = (one: Picked): boolean => one.pet.status === "available" || openOrderOf(one) !== undefined;

/** What is kept of a sale. */
export type SaleBody = Pick<NewStoreOrder, "reference" | "price" | "seller">;

/** Sells an animal: from its reservation, if it has one. */
export async function sellOne(
  petstore: Petstore,
  one: Picked,
  { reference, ...sale }: SaleBody,
  options: OnceOptions,
): Promise<StoreOrder> {
  const order = openOrderOf(one);
  if (order) return petstore.confirmStoreOrder(order.id, sale, options);
  return petstore.placeStoreOrder(
    { petId: one.pet.id, ...(reference && { reference }), ...sale, confirm: true },
    options,
  );
}

/** How many of the last sales are searched for one with a price. */
const SEARCHED = 10;

/** The currency of the shop, or else that of its last sale with a price; empty if there is none. */
export function useCurrency(): string {
  const { petstore } = useSession();
  const may = useMay();
  const { data: shop } = useFigures();
  const isAsked = shop && shop.currency === undefined && may("listStoreOrders");
  const { data } = useQuery(isAsked ? `${ORDERS}?last` : undefined, () =>
    petstore.listStoreOrders({ sort: "-confirmedAt", limit: SEARCHED }).page(),
  );
  return shop?.currency ?? data?.find(({ price }) => price)?.price?.currency ?? "";
}
