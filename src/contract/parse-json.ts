/** A text in which a number may lose digits: it has at least 16, with or without a decimal point, or an exponent. */
const mayLoseDigits = /[0-9.]{17}|[0-9]{16}|[0-9][eE]/;

/**
 * Parses JSON (RFC 8259) without rounding integers: one that a JavaScript number cannot represent exactly
 * becomes a bigint. Throws `SyntaxError` for invalid JSON.
 */
export function parseJson(text: string): unknown {
  if (!mayLoseDigits.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context: { source?: string }) =>
    typeof value === "number" && context.source !== undefined ? exactNumber(value, context.source) : value,
  );
}

/**
 * The exact number: a bigint for an integer beyond 2^53. NaN for a fraction so close to an integer that a
 * JavaScript number cannot distinguish them, so that it is not mistaken for that integer.
 */
function exactNumber(value: number, source: string): number | bigint {
  if (!Number.isInteger(value)) return value;
  const match = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(source);
  if (!match) return Number.NaN;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = whole + fraction;
  const cut = whole.length + Number(exponent); // the number of digits before the decimal point
  if (/[1-9]/.test(digits.slice(Math.max(0, cut)))) return Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  return BigInt(sign + digits.slice(0, cut).padEnd(cut, "0"));
}
