import { type TObject, type TSchema, Type } from "typebox";
import { Compile, type Validator } from "typebox/schema";
import { parseJson } from "./parse-json.ts";
import {
  INT64_MAX,
  INT64_MIN,
  isInt64,
  PLAIN_INTEGER,
  parseInt64,
  RULES,
  type Rule,
  UNCHECKED_ITEMS,
} from "./schemas.ts";

/** True for a safe integer, and for a bigint of the signed 64-bit range. */
export function fitsInt64(value: unknown): boolean {
  return typeof value === "bigint" ? value >= INT64_MIN && value <= INT64_MAX : Number.isSafeInteger(value);
}

/** Checks a value that may be a bigint. */
function int64Value({
  minimum = -Infinity,
  maximum = Infinity,
}: {
  readonly minimum?: number;
  readonly maximum?: number;
}) {
  const isWithin = (value: unknown) =>
    fitsInt64(value) && (value as number | bigint) >= minimum && (value as number | bigint) <= maximum;
  return Type.Refine(Type.Unsafe<unknown>({}), isWithin, () => "must be a 64-bit integer");
}

/**
 * A copy of the schema in which every int64 has its range checked and may be a bigint, and every rule is checked. Handlers check
 * formats other than times, with errors of their own.
 */
function checkable<S>(schema: S): S | object {
  if (Array.isArray(schema)) return schema.map((part) => checkable(part));
  if (typeof schema !== "object" || schema === null) return schema;
  if (isInt64(schema)) return int64Value(schema);
  const { [RULES]: rules = [], ...keywords } = schema as { readonly [RULES]?: readonly Rule[] };
  const checked = Object.entries(keywords).filter(
    ([key, value]) =>
      (key !== "format" || value === "date-time") &&
      (key !== "items" || !(UNCHECKED_ITEMS in schema)) &&
      (key !== "pattern" || rules.length === 0),
  );
  const copy: TSchema = Object.fromEntries(checked.map(([key, value]) => [key, checkable(value)]));
  return rules.reduce((ruled, { allows }) => Type.Refine(ruled, ofType(copy, allows)), copy);
}

/** Applies a rule to values of the schema's type only: `type` rejects others, but not null where it is allowed. */
function ofType({ type }: TSchema & { readonly type?: unknown }, allows: Rule["allows"]): Rule["allows"] {
  const typed = [type].flat().includes("string") ? "string" : "object";
  return (value) => typeof value !== typed || value === null || allows(value);
}

/** The compiled schemas: operations share some, and so do the services of one process. */
const compiled = new WeakMap<TSchema, Validator>();

/** Compiles a schema of the contract into a check of parsed JSON, large integers being bigints. */
export function compileValidator(schema: TSchema): Validator {
  return compiled.getOrInsertComputed(schema, () => Compile(checkable(schema)));
}

/**
 * Compiles the conversion of validated JSON to the input of handlers: int64 values become bigints, and absent
 * properties get their defaults. Returns undefined if there is nothing to convert.
 */
export function compileDecoder(schema: TSchema): ((value: unknown) => unknown) | undefined {
  if (isInt64(schema)) return (value) => BigInt(value as number | bigint);
  const { items, properties } = schema as { items?: TSchema; properties?: Record<string, TSchema> };
  if (UNCHECKED_ITEMS in schema) return undefined;
  if (items) {
    const decodeItem = compileDecoder(items);
    return decodeItem && ((value) => (value as unknown[]).map(decodeItem));
  }
  const steps = Object.entries(properties ?? {}).flatMap(([key, property]) => {
    const decode = compileDecoder(property);
    const fallback = (property as { default?: unknown }).default;
    return decode || fallback !== undefined ? [{ key, decode, fallback }] : [];
  });
  if (steps.length === 0) return undefined;
  return (value) => {
    if (value === null) return value; // in a merge patch
    const object = value as Record<string, unknown>;
    for (const { key, decode, fallback } of steps) {
      const given = object[key];
      if (given === undefined) {
        if (fallback !== undefined) object[key] = fallback;
      } else if (decode) object[key] = decode(given);
    }
    return object;
  };
}

/**
 * Compiles a reader for the text of each property. If a reader of a number or an object cannot read a text, it returns
 * the text unchanged, and validation rejects it.
 */
export function compileTextReaders({ properties }: TObject): ReadonlyMap<string, (text: string) => unknown> {
  return new Map(Object.entries(properties).map(([name, schema]) => [name, compileTextReader(schema)]));
}

/** Parses JSON. Returns invalid text unchanged. */
function readJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** The schema of the items of a comma-separated list; undefined for any other schema. */
export function itemsOf(schema: TSchema | undefined): TSchema | undefined {
  return schema && (schema as { items?: TSchema }).items;
}

export function compileTextReader(schema: TSchema): (text: string) => unknown {
  const items = itemsOf(schema);
  if (items) {
    const readItem = compileTextReader(items);
    const { maxItems = Infinity } = schema as { maxItems?: number };
    // One too many is refused, so later ones need not be read.
    return (text) => text.split(",").map((item, index) => (index <= maxItems ? readItem(item) : item));
  }
  if (isInt64(schema)) return (text) => parseInt64(text) ?? text;
  const { type } = schema as { type?: unknown };
  if (type === "object") return readJson;
  return type === "integer" ? (text) => (PLAIN_INTEGER.test(text) ? Number(text) : text) : (text) => text;
}
