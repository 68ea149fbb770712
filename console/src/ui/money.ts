import { digitsOf } from "../../../csv/money.ts";
import { decimalMark, numberOf } from "./words.ts";

/** How many of the smallest unit of a currency make one: 100 cents. */
export const unitOf = (currency: string): number => 10 ** digitsOf(currency);

/** Whole numbers of the smallest unit of a currency. Sums are larger than prices. */
export interface Money {
  readonly amount: number | bigint;
  readonly currency: string;
}

function partsOf({ amount, currency }: Money): readonly [sign: string, whole: bigint, rest: string] {
  const places = digitsOf(currency);
  const text = String(amount < 0 ? -amount : amount).padStart(places + 1, "0");
  const end = text.length - places;
  return [amount < 0 ? "−" : "", BigInt(text.slice(0, end)), places > 0 ? decimalMark() + text.slice(end) : ""];
}

/** "1,240.00 EUR" or "1.240,00 EUR", as the browser's language writes numbers. */
export function moneyOf(money: Money): string {
  const [sign, whole, rest] = partsOf(money);
  return `${sign}${numberOf(whole)}${rest} ${money.currency}`;
}

/** "1240.00" or "1240,00": an amount as it is typed, and as spreadsheets of the browser's language read it. */
export const amountText = (money: Money): string => partsOf(money).join("");

/**
 * The price that was typed: with a point or a comma before its decimals, and perhaps the other, a space or an apostrophe
 * between its thousands. Undefined if it is none.
 */
export function priceIn(text: string, currency: string): { amount: number; currency: string } | undefined {
  const places = digitsOf(currency);
  const typed = text.trim();
  const mark = /[.,](?=\d*$)/.exec(typed)?.[0];
  const isGrouped = mark && mark !== decimalMark() && /^[1-9]\d{0,2}[.,]\d{3}$/.test(typed) && places !== 3;
  const [whole = "", rest = ""] = mark && !isGrouped ? splitAtLast(typed, mark) : [typed];
  if (!/^(\d{1,10}|\d{1,3}([.,'’\s]\d{3}){1,3})$/.test(whole) || (mark && !isGrouped && whole.includes(mark)))
    return undefined;
  if (!/^\d*$/.test(rest) || rest.length > places || !/^[A-Z]{3}$/.test(currency)) return undefined;
  return { amount: Number(whole.replaceAll(/\D/g, "") + rest.padEnd(places, "0")), currency };
}

const splitAtLast = (text: string, mark: string) => [
  text.slice(0, text.lastIndexOf(mark)),
  text.slice(text.lastIndexOf(mark) + 1),
];

/** What to enter instead of what is no price. */
export const priceHint = (currency: string): string =>
  currency.length === 3
    ? `Enter a price such as ${amountText({ amount: 129 * unitOf(currency), currency })}.`
    : "Enter a currency such as EUR, too.";
