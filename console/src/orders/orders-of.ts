import type { Pet, StoreOrder } from "petstore-client";
import { isLive } from "../service/live.ts";
import { useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { ORDERS, ORDERS_OF } from "./orders.ts";

/** How many orders are read. Of animals whose newest is older than that many others, none is known. */
const READ = 100;

/** The newest order of each of these animals, if they can have one. */
export function useOrdersOf(pets: readonly Pet[] | undefined): ReadonlyMap<bigint, StoreOrder> {
  const { petstore } = useSession();
  const may = useMay();
  const ids = pets?.flatMap(({ id, status }) => (status ? [id] : [])) ?? [];
  const isAsked = ids.length > 0 && may("listStoreOrders");
  const { data } = useQuery(isAsked ? `${ORDERS_OF}${ids.join()}` : undefined, () =>
    petstore.listStoreOrders({ petId: ids, sort: "-id", limit: READ }).page(),
  );
  return new Map(data?.toReversed().map((order) => [order.petId, order]));
}

/** Reservations, those that end first before others. The service does not sort by the end. */
export const byEnd = (orders: readonly StoreOrder[]): readonly StoreOrder[] =>
  orders.toSorted((one, other) => Date.parse(one.expiresAt) - Date.parse(other.expiresAt));

/** The open orders by their end. Of more than `READ`, the newest are not known. */
export function useReserved() {
  const { petstore } = useSession();
  const may = useMay();
  const load = () => petstore.listStoreOrders({ status: "placed", limit: READ }).page();
  const query = useQuery(may("listStoreOrders") ? `${ORDERS}?open` : undefined, load, isLive.value);
  return { ...query, data: query.data && byEnd(query.data.filter(({ status }) => status === "placed")) };
}
