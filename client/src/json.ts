import { int64Field } from "./fields.ts";

/** A 64-bit integer in a request: a bigint or a safe integer. */
export type Int64 = bigint | number;

/** The type of 64-bit integers in responses. */
export type IdKind = "bigint" | "number";
export type IdOf<Ids extends IdKind> = Ids extends "number" ? number : bigint;

// JSON.parse rounds integers above 2^53, and Node 20 does not expose their digits. They pass through JSON.parse and
// JSON.stringify as strings that start with NUL. Strings that already start with NUL get a second one.
const NUL = "\0";
const ESCAPED_NUL = '"\\u0000';

/** A string or a number, and the colon after it if it is a key. */
const tokens = /("[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(\s*:)?/g;

/** Parses JSON without rounding integers. 64-bit fields and all other integers above 2^53 become bigints. */
export function parse(text: string, ids: IdKind = "bigint"): unknown {
  const isSpecial = /\d{16}/.test(text) || text.includes(ESCAPED_NUL);
  return reveal(JSON.parse(isSpecial ? text.replace(tokens, hideInteger) : text), ids, false);
}

function hideInteger(whole: string, token: string, colon?: string): string {
  if (colon) return whole;
  if (token.startsWith(ESCAPED_NUL)) return token.replace(ESCAPED_NUL, `${ESCAPED_NUL}\\u0000`);
  return /^-?[1-9]\d{15,}$/.test(token) && !Number.isSafeInteger(+token) ? `${ESCAPED_NUL}${token}"` : token;
}

/** Changes objects in place. All fields from JSON.parse are own fields, even one called `__proto__`. */
function reveal(value: unknown, ids: IdKind, isInt64: boolean): unknown {
  if (typeof value === "object" && value) {
    const fields = value as Record<string, unknown>;
    for (const [name, field] of Object.entries(fields)) {
      fields[name] = reveal(field, ids, Array.isArray(value) ? isInt64 : int64Field.test(name));
    }
  } else if (typeof value === "string" && value.startsWith(NUL)) {
    const rest = value.slice(1);
    if (rest.startsWith(NUL)) return rest;
    if (ids === "number") throw new RangeError(`${rest} is too large: leave out option \`ids\`.`);
    return BigInt(rest);
  }
  return isInt64 && ids === "bigint" && Number.isInteger(value) ? BigInt(value as number) : value;
}

/** Like `JSON.stringify`, but writes bigints as exact integers. */
export function stringify(value: unknown, space?: string | number): string {
  const text = JSON.stringify(value, hideBigint, space);
  return text?.includes(ESCAPED_NUL) ? text.replace(tokens, showBigint) : text;
}

/** `this` holds the original value. Some programs add a `toJSON` method to bigints. */
function hideBigint(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const own = this[name];
  if (typeof own === "bigint") return NUL + own;
  return typeof value === "string" && value.startsWith(NUL) ? NUL + value : value;
}

function showBigint(whole: string, token: string, colon?: string): string {
  if (colon || !token.startsWith(ESCAPED_NUL)) return whole;
  const rest = token.slice(ESCAPED_NUL.length);
  return rest.startsWith("\\u0000") ? `"${rest}` : rest.slice(0, -1);
}
