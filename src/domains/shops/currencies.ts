import { Type } from "typebox";
import { PATTERN_MEANING, RULES, type Rule } from "../../contract/schemas.ts";

/** The currencies of ISO 4217 that the runtime knows. */
const currencies: ReadonlySet<unknown> = new Set(Intl.supportedValuesOf("currency"));
const known: Rule = {
  allows: (code) => currencies.has(code),
  message: "must be a currency of ISO 4217, such as EUR",
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
  [PATTERN_MEANING]: "three capital letters",
  [RULES]: [known],
};
