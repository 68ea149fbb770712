import { type TSchema, type TUnsafe, Type } from "typebox";

/** Bounds of a signed 64-bit integer. */
export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/**
 * A signed 64-bit integer: a JSON number on the wire, digit for digit, and a `bigint` in the program,
 * because a JavaScript number is exact only up to 2^53.
 */
export function Int64(options: { description: string; examples?: bigint[] }): TUnsafe<bigint> {
  return Type.Unsafe<bigint>({ type: "integer", format: "int64", ...options });
}

/** True for a schema made by `Int64`. */
export function isInt64(schema: TSchema): boolean {
  const { type, format } = schema as { type?: unknown; format?: unknown };
  return type === "integer" && format === "int64";
}

/** The keyword that says in words what a `pattern` allows. */
export const PATTERN_MEANING = "x-pattern-meaning";

/**
 * Text of `minLength` to `maxLength` Unicode code points that every store can hold and every client
 * can read back unchanged: no NUL (PostgreSQL cannot store it), no unpaired surrogate (not Unicode).
 */
export function Text(options: { description: string; minLength: number; maxLength: number; examples?: string[] }) {
  return Type.String({
    ...options,
    pattern: "^[^\\u0000\\uD800-\\uDFFF]*$",
    [PATTERN_MEANING]: "no NUL and no unpaired surrogate",
  });
}

/** A moment in UTC, to the millisecond, as text (RFC 3339): `2026-11-21T12:00:00.000Z`. */
export function Timestamp(options: { description: string }) {
  return Type.String({ ...options, format: "date-time", examples: ["2026-11-21T12:00:00.000Z"] });
}

/** The text of a `Timestamp` for unix milliseconds. */
export function timestampOf(milliseconds: bigint | number): string {
  return new Date(Number(milliseconds)).toISOString();
}

/**
 * Reads a decimal integer in its only plain form (no sign but `-`, no leading zero, no `-0`).
 * Returns undefined for any other text and for numbers outside the signed 64-bit range.
 */
export function parseInt64(text: string): bigint | undefined {
  if (!/^(?:0|-?[1-9][0-9]{0,18})$/.test(text)) return undefined;
  const value = BigInt(text);
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}
