import { digitsOf } from "../../../csv/money.ts";
import { numberOf } from "./words.ts";

/** Whole numbers of the smallest unit of a currency. Sums are larger than prices. */
interface Money {
  readonly amount: number | bigint;
  readonly currency: string;
}

/** "1,240.00": an amount in the smallest unit of its currency. */
export function amountText({ amount, currency }: Money): string {
  const places = digitsOf(currency);
  const text = String(amount < 0 ? -amount : amount).padStart(places + 1, "0");
  const end = text.length - places;
  return `${amount < 0 ? "−" : ""}${numberOf(BigInt(text.slice(0, end)))}${places > 0 ? `.${text.slice(end)}` : ""}`;
}

/** "1,240.00 EUR". */
export const moneyOf = (money: Money): string => `${amountText(money)} ${money.currency}`;

/** The price that was typed, with a point or a comma before its decimals; undefined if it is none. */
export function priceIn(text: string, currency: string): { amount: number; currency: string } | undefined {
  const places = digitsOf(currency);
  const [, whole, rest = ""] = /^\s*(\d{1,10})(?:[.,](\d*))?\s*$/.exec(text) ?? [];
  if (whole === undefined || rest.length > places || !/^[A-Z]{3}$/.test(currency)) return undefined;
  return { amount: Number(whole + rest.padEnd(places, "0")), currency };
}
