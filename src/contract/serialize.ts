import { type TObject, type TSchema, Type } from "typebox";
import { isInt64, UNCHECKED_ITEMS } from "./schemas.ts";

declare global {
  /** JSON.parse with source text access and JSON.rawJSON (ES2026), which TypeScript's library types do not have yet. */
  interface JSON {
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
    rawJSON(text: string): unknown;
  }
}

export type Serializer = (value: unknown) => string;

/** Returns the parts of a value that its schema declares, in a form that `JSON.stringify` writes with all digits. */
type Projection = (value: unknown) => unknown;

/** Whether names that clients choose keep the order in which they were sent, or are sorted. */
type NameOrder = "sent" | "sorted";

/**
 * Compiles a schema into a function that writes values as JSON. It writes only the properties that the schema
 * declares, in its order, so that nothing internal can leak. Bigints keep all digits. Objects with
 * `additionalProperties: true` are written unchanged.
 */
export function compileSerializer(schema: TSchema, order: NameOrder = "sent"): Serializer {
  // Building objects for `JSON.stringify` is several times faster than joining texts here.
  const project = compileProjection(schema, order);
  return (value) => JSON.stringify(project(value));
}

function compileProjection(schema: TSchema, order: NameOrder): Projection {
  const { type, items, oneOf } = schema as { type?: unknown; items?: TSchema; oneOf?: readonly TObject[] };
  if (isInt64(schema)) return projectInt64;
  if (UNCHECKED_ITEMS in schema) return exactValue;
  if (oneOf) return objectProjection(commonSchema(oneOf), order);
  if (type === "array" && items) {
    const projectItem = compileProjection(items, order);
    return (value) => (value as readonly unknown[]).map(projectItem);
  }
  const { additionalProperties } = schema as { additionalProperties?: unknown };
  if (additionalProperties === true) return exactValue;
  if (typeof additionalProperties === "object") return mapProjection(additionalProperties as TSchema, order);
  if ([type].flat().includes("object")) return objectProjection(schema as TObject, order);
  return (value) => value;
}

/** JSON of any value, with every digit of its bigints. */
export function exactJson(value: unknown): string {
  return JSON.stringify(exactValue(value));
}

/** The value as it is, for `JSON.stringify`: with every digit of its bigints. */
export function exactValue(value: unknown): unknown {
  if (typeof value === "bigint") return projectInt64(value);
  if (Array.isArray(value)) return value.map(exactValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, exactValue(field)]));
}

function projectInt64(value: unknown): unknown {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(String(value));
}

/** The projection of an object whose property names clients choose. In a merge patch, it can be `null`. */
function mapProjection(values: TSchema, order: NameOrder): Projection {
  const project = compileProjection(values, order);
  return (value) => {
    if (!value) return value;
    const entries = Object.entries(value);
    if (order === "sorted") entries.sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(entries.map(([name, field]) => [name, project(field)]));
  };
}

/** The fields of all variants of an object. Where variants differ, a field is written unchanged. */
function commonSchema(variants: readonly TObject[]): TObject {
  const properties: Record<string, TSchema> = Object.assign({}, ...variants.map((variant) => variant.properties));
  const fields = Object.entries(properties).map(([name, schema]) => {
    const isCommon = variants.every((variant) => variant.properties[name] === schema);
    return [name, isCommon ? schema : Type.Object({}, { additionalProperties: true })];
  });
  return Type.Object(Object.fromEntries(fields));
}

function objectProjection(schema: TObject, order: NameOrder): Projection {
  const fields = Object.entries(schema.properties).map(([name, property]) => ({
    name,
    project: compileProjection(property, order),
  }));
  return (value) => {
    if (value === null) return value; // in a merge patch
    const object = value as Readonly<Record<string, unknown>>;
    const projected: Record<string, unknown> = {};
    for (const { name, project } of fields) {
      const field = object[name];
      if (field !== undefined) projected[name] = project(field);
    }
    return projected;
  };
}
