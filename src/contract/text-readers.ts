import type { TObject, TSchema } from "typebox";
import { parseJson } from "./parse-json.ts";
import { isInt64, PLAIN_INTEGER, parseInt64 } from "./schemas.ts";

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
