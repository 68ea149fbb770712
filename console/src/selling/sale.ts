import type { NewStoreOrder, OnceOptions, Petstore, StoreOrder } from "petstore-client";
import { useState } from "preact/hooks";
import type { FieldDescription } from "../contract.ts";
import { baseUrl } from "../router.tsx";
import { useSales } from "../sales/sales.tsx";
import { shopOf, useSession } from "../session/session.ts";
import { addDays, useToday } from "../shop/days.ts";
import { priceField } from "../shop/price-control.tsx";
import { type Entry, valueOf } from "../ui/form/values.ts";
import type { priceIn } from "../ui/money.ts";
import { store, stored } from "../watchable.ts";
import type { Picked } from "./pet-picker.tsx";

/** The order that holds an animal for a buyer. One that has ended says nothing about the animal. */
export const openOrderOf = ({ pet, order }: Picked): StoreOrder | undefined =>
  pet.status === "pending" && order?.status === "placed" ? order : undefined;

export const canReserve = ({ pet }: Picked): boolean => pet.status === "available";

/** What is available, or reserved, which is sold from its reservation. */
export const canSell = (one: Picked): boolean => canReserve(one) || openOrderOf(one) !== undefined;

/** What is kept of a sale. */
export type SaleBody = Pick<NewStoreOrder, "reference" | "price" | "seller">;

/** The price that was entered; null if there is none, because an animal's own price is the default. */
export const priceOf = (entry: Entry) => (valueOf(priceField, entry) as ReturnType<typeof priceIn>) ?? null;

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

/** An animal and its newest order as they are now. */
export async function asItIs(petstore: Petstore, one: Picked): Promise<Picked> {
  const { id } = one.pet;
  const [[pet], [order]] = await Promise.all([
    petstore.listPets({ ids: [id] }).page(),
    petstore.listStoreOrders({ petId: [id], sort: "-id", limit: 1 }).page(),
  ]);
  return pet ? { pet, order } : one;
}

/** The texts among these entries that are not empty. */
export const textsOf = (entries: Readonly<Record<string, Entry>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(entries as Readonly<Record<string, string>>)
      .map(([name, text]) => [name, text.trim()] as const)
      .filter(([, text]) => text),
  );

export const referenceField: FieldDescription = { name: "reference", label: "Reference", placeholder: "Receipt 118" };

/** The days whose sellers are suggested, as on the first page. */
const DAYS = 14;

/** The seller of sales, kept for this browser: a till that several people use asks for their names. */
export function useSeller() {
  const { key } = useSession();
  const today = useToday();
  const { data } = useSales({ first: today && addDays(today, 1 - DAYS), last: today });
  const suggested = data?.sellers.flatMap(({ name }) => name ?? []) ?? [];
  const field: FieldDescription = { name: "seller", label: "Seller", suggested };
  const name = `petstore-seller ${baseUrl} ${shopOf(key)}`;
  const [seller, type] = useState<Entry>(() => stored(name) ?? key.name);
  return [field, seller, type, () => store(name, seller as string)] as const;
}
