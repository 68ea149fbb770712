import type { ShopNumber } from "../../contract/caller.ts";
import type { Fault } from "../../contract/errors.ts";
import type { StoredField } from "../../storage/row-mapping.ts";
import type { Query } from "../../storage/transaction.ts";
import type { NewPrice, Price } from "./price.schemas.ts";
import { currencyOf } from "./shop-settings.store.ts";

type PriceColumns = Readonly<{ amount: bigint | null; currency: string | null }>;
/** How a price is kept in a row. */
export const priceField: StoredField<Price | undefined, PriceColumns, PriceColumns> = {
  write: { amount: (price) => price?.amount ?? null, currency: (price) => price?.currency ?? null },
  read: ({ amount, currency }) => (amount === null ? undefined : { amount, currency: currency as string }),
};

/**
 * Part of a transaction: the price that a client has sent. If that has no currency, it gets that of the price that it
 * replaces, otherwise that of the shop.
 */
export function* completePrice(shop: ShopNumber, sent: NewPrice, replaced?: Price): Query<Price | Fault> {
  const known = sent.currency ?? replaced?.currency;
  return priceIn(known ?? (yield* currencyOf(shop)), sent, replaced);
}

/** The same with the currency of the shop, if it has one. */
export function priceIn(own: string | undefined, sent: NewPrice, replaced?: Price): Price | Fault {
  const code = sent.currency ?? replaced?.currency ?? own;
  return code === undefined ? currencyFault : { amount: sent.amount, currency: code };
}

/** What is wrong with a price without a currency, in a shop without one. */
export const currencyFault: Fault = {
  path: "/price/currency",
  message: "is required, because the shop has no currency: send one, such as EUR, or set that of the shop (updateShop)",
};
