import { type Static, Type } from "typebox";
import { invalidInput } from "../../contract/errors.ts";
import { Int64 } from "../../contract/schemas.ts";
import type { Query } from "../../storage/transaction.ts";
import { currency, sentCurrency } from "./currencies.ts";
import { currencyOf } from "./shop-settings.store.ts";

const amount = Int64({
  description: "The amount in the smallest unit of the currency, such as cents.",
  minimum: 0,
  maximum: 10 ** 12,
  examples: [24_900n],
});

export const NewPrice = Type.Object(
  {
    amount,
    currency: Type.Optional(
      Type.String({ ...sentCurrency, description: `${sentCurrency.description} Default: that of the shop.` }),
    ),
  },
  { title: "NewPrice", description: "A price.", additionalProperties: false },
);
export type NewPrice = Static<typeof NewPrice>;

export const Price = Type.Object({ amount, currency }, { title: "Price", description: "A price." });
export type Price = Static<typeof Price>;

/** A price without a currency, in a shop without one. */
export interface NoCurrency {
  readonly refused: "no currency";
}

/**
 * Part of a transaction: the price that a client has sent. If that has no currency, it gets that of the price that it
 * replaces, otherwise that of the shop.
 */
export function* completePrice(shop: number, sent: NewPrice, replaced?: Price): Query<Price | NoCurrency> {
  const own = sent.currency ?? replaced?.currency ?? (yield* currencyOf(shop));
  return own === undefined ? { refused: "no currency" } : { amount: sent.amount, currency: own };
}

/** The failure of a request whose body has a price without a currency, in a shop without one. */
export function noCurrency() {
  const message =
    "is required, because the shop has no currency: send one, such as EUR, or set that of the shop (updateShop)";
  return invalidInput([{ path: "/body/price/currency", message }]);
}
