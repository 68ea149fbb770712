import { int64Fields } from "./fields.ts";

/** A 64-bit integer of a request: a bigint, or a number that is exact. */
export type Int64 = bigint | number;

/** How 64-bit integers of responses are given. */
export type IdKind = "bigint" | "number";
export type IdOf<Ids extends IdKind> = Ids extends "number" ? number : bigint;

// JSON.parse rounds integers above 2^53, and Node 20 has no way to see their digits. So they travel through JSON.parse
// and JSON.stringify as texts that begin with a NUL; texts that begin with one themselves get a second one.
const NUL = "\0";
const WRITTEN = '"\\u0000';

/** A text or a number, and the colon behind it if it is a key. */
const tokens = /("[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(\s*:)?/g;

/** Parses JSON without rounding an integer. Fields that hold 64-bit integers are bigints, and so is any other integer above 2^53. */
export function parse(text: string, ids: IdKind = "bigint"): unknown {
  const isSpecial = /\d{16}/.test(text) || text.includes(WRITTEN);
  return reveal(JSON.parse(isSpecial ? text.replace(tokens, hideInteger) : text), ids, false);
}

function hideInteger(whole: string, token: string, colon?: string): string {
  if (colon) return whole;
  if (token.startsWith(WRITTEN)) return token.replace(WRITTEN, `${WRITTEN}\\u0000`);
  return /^-?[1-9]\d{15,}$/.test(token) && !Number.isSafeInteger(+token) ? `${WRITTEN}${token}"` : token;
}

/** Changes objects in place: JSON.parse has made all of their fields their own, one called `__proto__` too. */
function reveal(value: unknown, ids: IdKind, isInt64: boolean): unknown {
  if (typeof value === "object" && value) {
    const fields = value as Record<string, unknown>;
    for (const [name, field] of Object.entries(fields)) {
      fields[name] = reveal(field, ids, Array.isArray(value) ? isInt64 : int64Fields.has(name));
    }
  } else if (typeof value === "string" && value.startsWith(NUL)) {
    const rest = value.slice(1);
    if (rest.startsWith(NUL)) return rest;
    if (ids === "number") throw new RangeError(`${rest} is not exact as a number: leave out \`ids\`.`);
    return BigInt(rest);
  }
  return isInt64 && ids === "bigint" && Number.isInteger(value) ? BigInt(value as number) : value;
}

/** Writes JSON as `JSON.stringify` does, with bigints as integers, digit for digit. */
export function stringify(value: unknown, space?: string | number): string {
  const text = JSON.stringify(value, hideBigint, space);
  return text?.includes(WRITTEN) ? text.replace(tokens, showBigint) : text;
}

/** `this` holds the field as it was before any `toJSON`, which some programs give to bigints. */
function hideBigint(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const own = this[name];
  if (typeof own === "bigint") return NUL + own;
  return typeof value === "string" && value.startsWith(NUL) ? NUL + value : value;
}

function showBigint(whole: string, token: string, colon?: string): string {
  if (colon || !token.startsWith(WRITTEN)) return whole;
  const rest = token.slice(WRITTEN.length);
  return rest.startsWith("\\u0000") ? `"${rest}` : rest.slice(0, -1);
}
