/** A text in which no number can lose digits: at most 15 digits in a row, and no exponent. */
const mayLoseDigits = /[0-9]{16}|[0-9][eE]/;

/**
 * Parses JSON (RFC 8259) without ever rounding an integer: one that a JavaScript number cannot hold
 * exactly becomes a bigint. Throws `SyntaxError` for what is not JSON.
 */
export function parseJson(text: string): unknown {
  if (!mayLoseDigits.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context: { source?: string }) =>
    typeof value === "number" && context.source !== undefined ? exactNumber(value, context.source) : value,
  );
}

/** The number as written: itself where that is exact or no integer, otherwise a bigint. */
function exactNumber(value: number, source: string): number | bigint {
  if (Number.isSafeInteger(value)) return value;
  const match = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,4}))?$/.exec(source);
  if (!match) return value;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = whole + fraction;
  const shift = Number(exponent) - fraction.length;
  // Beyond 40 digits it cannot be a 64-bit integer: not worth a huge bigint.
  if (shift > 40 || digits.length > 100) return value;
  if (shift >= 0) return BigInt(`${sign}${digits}${"0".repeat(shift)}`);
  const cut = digits.length + shift;
  return cut > 0 && /^0*$/.test(digits.slice(cut)) ? BigInt(sign + digits.slice(0, cut)) : value;
}
