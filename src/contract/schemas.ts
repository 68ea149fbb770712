import { type Static, type TObject, type TSchema, type TString, type TUnsafe, Type } from "typebox";
import { Check } from "typebox/schema";
import { folded } from "../../csv/name-key.ts";
import { shown } from "./messages.ts";

/** Bounds of a signed 64-bit integer. */
export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/**
 * A signed 64-bit integer: a JSON number on the wire, digit for digit, and a `bigint` in the program,
 * because a JavaScript number is exact only up to 2^53.
 */
export function Int64(options: {
  description: string;
  minimum?: number;
  maximum?: number;
  examples?: bigint[];
  [MEANING]?: string;
}): TUnsafe<bigint> {
  return Type.Unsafe<bigint>({ type: "integer", format: "int64", ...options });
}

/** True for a schema made by `Int64` or `LargeCount`. */
export function isInt64(schema: TSchema): boolean {
  const { type, format } = schema as { type?: unknown; format?: unknown };
  return type === "integer" && format === "int64";
}

/** The largest signed 32-bit integer. */
export const INT32_MAX = 2 ** 31 - 1;

interface IntegerOptions {
  readonly description: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
  readonly examples?: number[];
  readonly [MEANING]?: string;
}

/** A 32-bit integer, at least 0 unless `minimum` says otherwise. */
export function Int32(options: IntegerOptions) {
  return Type.Integer({ format: "int32", minimum: 0, maximum: INT32_MAX, ...options });
}

/** An integer in a response that may exceed 32 bits but is exact as a JavaScript number. */
export function LargeCount(options: IntegerOptions): TUnsafe<number> {
  return Type.Unsafe<number>({ type: "integer", format: "int64", maximum: Number.MAX_SAFE_INTEGER, ...options });
}

/** The keyword with a titled schema's description for one place of use. It never appears in the document. */
export const LOCAL_DESCRIPTION = "x-local-description";

/** The same schema with a description for this place of use only. Schemas with the same title are not affected. */
export function described<S extends TSchema>(schema: S, description: string): S {
  return { ...schema, [LOCAL_DESCRIPTION]: description };
}

/** The field of a patch (RFC 7396) that `null` removes. */
export function removable<S extends TSchema>(schema: S, description?: string) {
  const type = [(schema as { type?: unknown }).type, "null"];
  return Type.Optional(Type.Unsafe<Static<S> | null>({ ...schema, type, ...(description && { description }) }));
}

/** One of several objects. The field `by` tells which: it has one value in each. */
export function OneOf<T>(by: string, variants: readonly TObject[], options: { title: string; description: string }) {
  return Type.Unsafe<T>({ ...options, oneOf: variants, discriminator: { propertyName: by } });
}

/** The schemas of which a value has one: the variants of `OneOf`, or any other schema itself. */
export function variantsOf(schema: TSchema): readonly TSchema[] {
  return (schema as { oneOf?: readonly TObject[] }).oneOf ?? [schema];
}

/** One of several texts. */
export function Choice<const T extends string>(
  values: readonly T[],
  { title, ...others }: { title: string; description: string; default?: T },
) {
  return Type.Enum<T[]>([...values], { title, type: "string", ...others });
}

/**
 * A rule for objects in addition to the keywords of the schema, or for text instead of its pattern. `message` says `must …`
 * or `must not …` of a value that is not allowed.
 */
export interface Rule {
  readonly allows: (value: unknown) => boolean;
  readonly message: string | ((value: unknown) => string);
}

/** The keyword for rules that JSON Schema cannot express. The schema's description must mention them. */
export const RULES = "x-rules";

/** The keyword of a list whose items are not validated: its handler checks them, so that one fault need not refuse all. */
export const UNCHECKED_ITEMS = "x-unchecked-items";

/** The keyword that describes in words what a `pattern` allows. */
export const PATTERN_MEANING = "x-pattern-meaning";

/** The keyword that says in words what a value is, with an example. */
export const MEANING = "x-meaning";

/** The keyword of a text that only its client may have: see `showsSecret`. */
export const SECRET = "x-secret";

export function Secret(description: string) {
  return Type.String({ description, [SECRET]: true });
}

interface TextOptions {
  readonly description: string;
  /** In Unicode code points, like `maxLength`. */
  readonly minLength?: number;
  readonly maxLength: number;
  readonly default?: string;
  readonly examples?: string[];
}

/**
 * One line of text. Without control characters, it breaks no line of a log, terminal or stream, and escapes in JSON at most
 * double it.
 */
export function Text(options: TextOptions) {
  return Type.String({ ...options, ...textWithout("\\x00-\\x1F\\x7F-\\x9F", "control character") });
}

/** Text that may have several lines, and tabs. */
export function LongText(options: TextOptions) {
  const controls = "\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F\\x7F-\\x9F";
  return Type.String({ ...options, ...textWithout(controls, "control character but tab, CR and LF") });
}

/** The same text, which must not consist of blanks only. */
export function notBlank<S extends TString>(text: S): S {
  const { [RULES]: rules = [], description } = text as { readonly [RULES]?: readonly Rule[]; description?: string };
  return { ...text, description: `${description} Not only blanks.`, [RULES]: [...rules, isNotBlank] };
}

const isNotBlank: Rule = {
  allows: (text) => /\S/.test(text as string),
  message: "must hold more than blanks",
};

/**
 * The keywords for text without the characters of a class, given as the class's content, and without U+2028, U+2029 and
 * unpaired surrogates. Patterns are also compiled by others, whose engines know neither `\uXXXX` nor surrogates: so they
 * are `\xXX`, and a rule checks all. `meaning` names a character of the class.
 */
export function textWithout(characters: string, meaning: string) {
  const ofClass = new RegExp(`[${characters}]`);
  const refused = new RegExp(`[${characters}\\u2028\\u2029\\p{Surrogate}]`, "u");
  const isSound = (text: string) =>
    !ofClass.test(text) && !text.includes("\u2028") && !text.includes("\u2029") && text.isWellFormed();
  const rule: Rule = {
    allows: (text) => isSound(text as string),
    message: (text) => {
      const { 0: found, index } = refused.exec(text as string) as RegExpExecArray;
      const kind = ofClass.test(found) ? meaning : found.isWellFormed() ? "line separator" : "unpaired surrogate";
      const code = found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
      return `must hold no ${kind}; character ${Array.from((text as string).slice(0, index)).length + 1} is U+${code}`;
    },
  };
  return { pattern: `^[^${characters}]*$`, [RULES]: [rule] };
}

/** A time in UTC to the millisecond (RFC 3339): `2026-11-21T12:00:00.000Z`. */
export function Timestamp(options: { description: string }) {
  return Type.String({ ...options, format: "date-time", examples: ["2026-11-21T12:00:00.000Z"] });
}

/** A time that a client sends, with its offset from UTC (RFC 3339). `millisecondsOf` reads it. */
export function DateTime(options: { description: string }) {
  // 40 characters are enough for nanoseconds and an offset.
  return Type.String({ ...Timestamp(options), maxLength: 40, pattern: "^[^\\[]*$", [RULES]: [isMoment, isInYears] });
}

/** Without the time zones in brackets of RFC 9557. */
const isMoment: Rule = {
  allows: (text) => Check({ format: "date-time" }, text) && !(text as string).includes("["),
  message: (text) => `must be a date and time with an offset, such as 2026-11-21T12:00:00Z; got ${shown(text)}`,
};

const YEAR_1 = Date.parse("0001-01-01T00:00:00Z");
const YEAR_9999 = Date.parse("9999-01-01T00:00:00Z");

/** So that a year has four digits in every time zone. */
const isInYears: Rule = {
  allows: (text) => millisecondsOf(text as string) >= YEAR_1 && millisecondsOf(text as string) < YEAR_9999,
  message: (text) => `must be in one of the years 0001 to 9998 in UTC; got ${shown(text)}`,
};

/** Unix milliseconds of a `DateTime`, rounded up. A leap second counts as the next second. */
export function millisecondsOf(moment: string): number {
  const second = moment.replace(/:60(?=[.Zz+-])/, ":59");
  const isBetweenMilliseconds = /\.\d{3}\d*[1-9]/.test(moment);
  return Date.parse(second) + (second === moment ? 0 : 1_000) + (isBetweenMilliseconds ? 1 : 0);
}

/** The text of a `Timestamp` for Unix milliseconds. */
export function timestampOf(milliseconds: bigint | number): string {
  return new Date(Number(milliseconds)).toISOString();
}

/** A decimal integer in its only plain form: no sign but `-`, no exponent, space or leading zero, no `-0`. */
export const PLAIN_INTEGER = /^(?:0|-?[1-9][0-9]{0,18})$/;

/** Reads a plain integer. Returns undefined for any other text and for numbers outside the signed 64-bit range. */
export function parseInt64(text: string): bigint | undefined {
  if (!PLAIN_INTEGER.test(text)) return undefined;
  const value = BigInt(text);
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}

/** The stored search form of a name; null for ASCII names, which every engine can convert to lower case. */
export function foldedToStore(name: string): string | null {
  return isAscii.test(name) ? null : folded(name);
}

const isAscii = /^[\0-\x7f]*$/;
