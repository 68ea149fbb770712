import { type Static, Type } from "typebox";
import { shown } from "../../contract/messages.ts";
import { Int64, MEANING, RULES, type Rule } from "../../contract/schemas.ts";

/** The currencies of ISO 4217 that the runtime knows. */
let currencies: ReadonlySet<unknown> | undefined;
const isCurrency = (code: unknown) => (currencies ??= new Set(Intl.supportedValuesOf("currency"))).has(code);
const known: Rule = {
  allows: isCurrency,
  message: (code) => {
    const capital = (code as string).toUpperCase();
    return `must be a currency of ISO 4217, such as EUR; got ${shown(code)}${isCurrency(capital) ? `, did you mean ${capital}?` : ""}`;
  },
};

/** The currency of a price that is shown. Older prices may have one that is not known any more. */
export const currency = Type.String({
  description: "Three capital letters, as in ISO 4217.",
  maxLength: 3,
  examples: ["EUR"],
});
/** The keywords of a currency that a client sends. */
export const sentCurrency = {
  ...currency,
  description: "A currency of ISO 4217: three capital letters.",
  pattern: "^[A-Z]{3}$",
  [RULES]: [known],
};

const amount = Int64({
  description: "The amount in the smallest unit of the currency, such as cents.",
  minimum: 0,
  maximum: 10 ** 12,
  [MEANING]: "in the smallest unit of the currency, such as 1290 for 12.90 EUR",
  examples: [24_900n],
});

const newPrice = {
  amount,
  currency: Type.Optional(
    Type.String({ ...sentCurrency, description: `${sentCurrency.description} Default: that of the shop.` }),
  ),
};
const keywords = {
  additionalProperties: false,
  [MEANING]: '{"amount":1290,"currency":"EUR"} for 12.90 EUR',
  examples: [{ amount: 24_900n, currency: "EUR" }],
} as const;

export const NewPrice = Type.Object(newPrice, { title: "NewPrice", description: "A price.", ...keywords });
export type NewPrice = Static<typeof NewPrice>;

/** The field of a patch (RFC 7396). */
export const PricePatch = Type.Unsafe<NewPrice | null>({
  ...Type.Object(newPrice, keywords),
  title: "PricePatch",
  type: ["object", "null"],
  description: "The price from now on; `null` removes it. Without `currency`, it keeps the one that it has.",
});

export const Price = Type.Object({ amount, currency }, { title: "Price", description: "A price." });
export type Price = Static<typeof Price>;
