/** Currencies without hundredths, by the digits that they have instead (ISO 4217). `Intl` knows them too, but starts slowly. */
const digits: readonly (readonly [RegExp, number])[] = [
  [/^(BIF|CLP|DJF|GNF|ISK|JPY|KMF|KRW|PYG|RWF|UGX|UYI|VND|VUV|XAF|XOF|XPF)$/, 0],
  [/^(BHD|IQD|JOD|KWD|LYD|OMR|TND)$/, 3],
];

/** The digits after the point of an amount in this currency. */
export function digitsOf(currency: string): number {
  return digits.find(([names]) => names.test(currency))?.[1] ?? 2;
}

/** "1240.00": an amount of at least 0 in the smallest unit of its currency. */
export function decimalOf(amount: bigint, currency: string): string {
  const places = digitsOf(currency);
  const text = String(amount).padStart(places + 1, "0");
  return places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`;
}

/** The amount of a decimal, with a point or a comma before its digits; undefined for any other text. */
export function amountIn(decimal: string, currency: string): bigint | undefined {
  const places = digitsOf(currency);
  const [, whole, rest = ""] = /^\s*(\d{1,13})(?:[.,](\d+))?\s*$/.exec(decimal) ?? [];
  return whole === undefined || rest.length > places ? undefined : BigInt(whole + rest.padEnd(places, "0"));
}
