import type { TObject, TSchema } from "typebox";
import { isInt64 } from "../contract/schemas.ts";

export type Serializer = (value: unknown) => string;

/**
 * Compiles a schema into a function that writes values as JSON. Only what the schema declares is
 * written, in its order, so that nothing internal can leak; bigints keep every digit.
 */
export function compileSerializer(schema: TSchema): Serializer {
  const { type, items } = schema as { type?: unknown; items?: TSchema };
  if (isInt64(schema)) return String;
  if (type === "array" && items) return arraySerializer(compileSerializer(items));
  if (type === "object") return objectSerializer(schema as TObject);
  return (value) => JSON.stringify(value);
}

function arraySerializer(item: Serializer): Serializer {
  return (value) => {
    const values = value as readonly unknown[];
    let json = "[";
    for (let index = 0; index < values.length; index++) json += (index > 0 ? "," : "") + item(values[index]);
    return `${json}]`;
  };
}

function objectSerializer(schema: TObject): Serializer {
  const fields = Object.entries(schema.properties).map(([name, property]) => ({
    name,
    key: `${JSON.stringify(name)}:`,
    serialize: compileSerializer(property),
  }));
  return (value) => {
    const object = value as Readonly<Record<string, unknown>>;
    let json = "";
    for (const { name, key, serialize } of fields) {
      const field = object[name];
      if (field !== undefined) json += (json === "" ? "{" : ",") + key + serialize(field);
    }
    return json === "" ? "{}" : `${json}}`;
  };
}
