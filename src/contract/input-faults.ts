import type { TSchema } from "typebox";
import { Check } from "typebox/schema";
import { type Fault, MAX_FAULTS } from "./errors.ts";
import { count, shown, suggest } from "./messages.ts";
import { isInt64, MEANING, PATTERN_MEANING, parseInt64, RULES, type Rule, UNCHECKED_ITEMS } from "./schemas.ts";
import { exactJson } from "./serialize.ts";
import { fitsInt64 } from "./validators.ts";

const MAX_NAME = 64;
/** More allowed values than these are not listed if one of them is probably meant. */
const MANY = 10;

/** The keywords that schemas of input use. `input-faults.test.ts` compares what they mean here with the validator. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly [PATTERN_MEANING]?: string;
  readonly [MEANING]?: string;
  readonly format?: string;
  readonly examples?: readonly unknown[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly maxProperties?: number;
  readonly propertyNames?: Schema;
  readonly additionalProperties?: false | Schema;
  readonly [RULES]?: readonly Rule[];
  readonly [UNCHECKED_ITEMS]?: true;
}

/**
 * The faults of a value that its validator has refused, at least one and at most `MAX_FAULTS`. `base` is the JSON Pointer
 * of the value within the request; `noun` is what a property of it is called (`field of this operation`).
 *
 * The validator's own list would visit every part of a value that is far too large: here, what has the wrong size is not
 * looked into, and nothing is looked at after the last fault that is told.
 */
export function faultsOf(value: unknown, schema: TSchema, base: string, noun: string): Fault[] {
  const faults = [...faultsIn(value, schema, base, noun).take(MAX_FAULTS)];
  return faults.length > 0 ? faults : [{ path: base, message: "is not valid" }];
}

/** The first fault of a value; undefined if it fits the schema. It compiles nothing, for schemas that are checked once. */
export function firstFault(value: unknown, schema: TSchema): Fault | undefined {
  return faultsIn(value, schema, "", "field of the schema").next().value ?? undefined;
}

function* faultsIn(value: unknown, schema: Schema, path: string, noun: string): Generator<Fault> {
  const own = kindFault(value, schema) ?? sizeFault(value, schema) ?? contentFault(value, schema);
  if (own !== undefined) {
    yield { path, message: own };
    return;
  }
  let isSound = true;
  for (const fault of partFaults(value, schema, path, noun)) {
    isSound = false;
    yield fault;
  }
  // Rules are for a value that is sound otherwise.
  const broken = isSound && value !== null && schema[RULES]?.find(({ allows }) => !allows(value));
  if (broken) yield { path, message: typeof broken.message === "string" ? broken.message : broken.message(value) };
}

function* partFaults(value: unknown, schema: Schema, path: string, noun: string): Generator<Fault> {
  if (schema[UNCHECKED_ITEMS]) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* faultsIn(item, schema.items ?? {}, `${path}/${index}`, noun);
  } else if (typeof value === "object" && value !== null) {
    yield* propertyFaults(value as Record<string, unknown>, schema, path, noun);
  }
}

function* propertyFaults(value: Record<string, unknown>, schema: Schema, path: string, noun: string): Generator<Fault> {
  const { properties = {}, required = [], propertyNames = {}, additionalProperties: others = {} } = schema;
  const schemaOf = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : others);
  // First, because one of them may be what is missing, under another name.
  for (const name of Object.keys(value)) {
    if (schemaOf(name) !== false) continue;
    yield { path: `${path}/${pointerToken(name)}`, message: unknownName(noun, name, Object.keys(properties)) };
  }
  for (const name of required) {
    if (!Object.hasOwn(value, name)) yield { path: `${path}/${pointerToken(name)}`, message: "is required" };
  }
  for (const name of Object.keys(value)) {
    const at = `${path}/${pointerToken(name)}`;
    const known = schemaOf(name);
    if (known) {
      for (const { message } of faultsIn(name, propertyNames, at, noun)) {
        yield { path: at, message: `is a key that ${message}` };
      }
      yield* faultsIn(value[name], known, at, noun);
    }
  }
}

/** What is wrong with the type of a value, or with a value of which only some are allowed. */
function kindFault(value: unknown, schema: Schema): string | undefined {
  const { type, enum: values, minimum = -Infinity, maximum = Infinity } = schema;
  const isWrong =
    (type !== undefined && ![type].flat().some((one) => isOfType(value, one, schema))) ||
    (values !== undefined && !values.includes(value)) ||
    ((typeof value === "number" || typeof value === "bigint") && (value < minimum || value > maximum));
  if (!isWrong) return undefined;
  const sent = shown(value);
  const repair = repairOf(value, schema);
  const allowed = repair && values && values.length > MANY ? `one of ${values.length} values` : expected(schema);
  return `must be ${allowed}${sent === undefined ? "" : `; got ${sent}`}${repair}`;
}

function isOfType(value: unknown, type: string, schema: Schema): boolean {
  if (type === "integer") return isInt64(schema) ? fitsInt64(value) : Number.isInteger(value);
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return typeof value === type;
}

function expected(schema: Schema): string {
  const { type, enum: values, minimum, maximum, properties, examples } = schema;
  if (values) return `one of ${values.join(", ")}`;
  const range = minimum !== undefined && maximum !== undefined ? ` from ${minimum} to ${maximum}` : "";
  const meaning = schema[MEANING];
  const isCompound = properties !== undefined || range !== "";
  const example = isCompound && examples ? `, such as ${exactJson(examples[0])}` : "";
  const added = meaning ? `: ${meaning}` : example;
  return `${isInt64(schema) ? "a 64-bit integer" : article([type].flat().join(" or "))}${range}${added}`;
}

/** What to do about a value that is nearly right; empty for any other. */
function repairOf(value: unknown, { type, enum: values = [], properties = {} }: Schema): string {
  if (Array.isArray(value)) {
    const list = Object.keys(properties).find((name) => properties[name]?.type === "array");
    if (list !== undefined) return `, put it into ${list}`;
    const isPatch = value.some((one: unknown) => typeof one === "object" && one !== null && "op" in one);
    return isPatch ? " of changes (JSON Patch), send an object with the fields that change (JSON Merge Patch)" : "";
  }
  if (type === "array" && /^(?:string|number|bigint)$/.test(typeof value)) return ", write it in [ ], as a list";
  if (type === "string" && /^(?:number|bigint)$/.test(typeof value)) return ", write it in double quotes";
  if (typeof value !== "string") return "";
  if ([type].flat().includes("object") && /^\s*[{[]/.test(value))
    return ", which is JSON inside a text: turn it into JSON only once";
  const isBare =
    type === "boolean" ? /^(?:true|false)$/.test(value) : type === "integer" && parseInt64(value) !== undefined;
  if (isBare) return ", write it without quotes";
  const meant = suggest(value, values as string[]);
  return meant === undefined ? "" : `, did you mean ${meant}?`;
}

/** What is wrong with the size of a value. */
function sizeFault(value: unknown, schema: Schema): string | undefined {
  if (typeof value === "string") {
    if (schema.format === "date-time" && !Check({ format: "date-time" }, value)) return undefined; // its content is wrong
    return wrongSize(codePointsOf(value), schema.minLength, schema.maxLength, "character");
  }
  if (Array.isArray(value)) return wrongSize(value.length, schema.minItems, schema.maxItems, "item");
  if (typeof value !== "object" || value === null || schema.maxProperties === undefined) return undefined;
  return wrongSize(Object.keys(value).length, undefined, schema.maxProperties, "pair");
}

function wrongSize(size: number, least = 0, most = Infinity, noun = ""): string | undefined {
  if (size < least) return `must have at least ${count(least, noun)}; it has ${size}`;
  return size > most ? `must have at most ${count(most, noun)}; it has ${size}` : undefined;
}

/** The length of a text as JSON Schema counts it: a pair of surrogates is one character. Splitting a long text costs more. */
function codePointsOf(text: string): number {
  let points = text.length;
  for (let at = 1; at < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) points--;
  }
  return points;
}

/** What is wrong with a value of the right type and size. */
function contentFault(value: unknown, schema: Schema): string | undefined {
  const { pattern, format, [RULES]: rules } = schema;
  if (typeof value !== "string" || rules) return undefined;
  if (pattern !== undefined && !new RegExp(pattern, "u").test(value)) {
    return `must ${schema[PATTERN_MEANING] ? `hold ${schema[PATTERN_MEANING]}` : `match ${pattern}`}`;
  }
  if (format !== "date-time" || Check({ format }, value)) return undefined;
  return `must be a date and time with an offset, such as 2026-11-21T12:00:00Z; got ${shown(value)}`;
}

/**
 * A name that a client chose as one token of a JSON Pointer (RFC 6901, section 3). It is cut, and made
 * Unicode, so that every client can read the response.
 */
export function pointerToken(name: string): string {
  return name.slice(0, MAX_NAME).toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1");
}

/** What other services call a name. */
const synonyms: ReadonlyMap<string, string> = new Map(
  Object.entries({
    search: ["q", "query", "text", "term", "keyword"],
    sort: ["order", "orderby", "sortby", "direction"],
    since: ["from", "start", "startdate", "after", "date"],
    until: ["to", "end", "enddate", "before"],
    status: ["state"],
    types: ["events"],
    expiresIn: ["ttl", "lifetime"],
  }).flatMap(([name, others]) => others.map((other) => [other, name] as const)),
);

/** The message about a name that is not among the known ones. `noun` is what these are called (`field of this operation`). */
export function unknownName(noun: string, name: string, known: readonly string[]): string {
  const other = synonyms.get(name.toLowerCase().replaceAll(/[_-]/g, ""));
  const meant = other && known.includes(other) ? other : suggest(name.replace(/^filter\[(\w+)\]$/i, "$1"), known);
  const isNone = `is not ${article(noun)}`;
  if (meant) return `${isNone}; did you mean ${meant}?`;
  return known.length > 0 ? `${isNone}; it has ${known.join(", ")}` : `${isNone}, which has none`;
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
