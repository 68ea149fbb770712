import type { TSchema } from "typebox";
import type { Operation } from "../contract/operation.ts";
import { pathParameters } from "../contract/operation-properties.ts";
import type { Json } from "./openapi-components.ts";

interface Keywords {
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: TSchema;
}

/** The example of a parameter: the example of its schema, its default, or its first value. */
export function exampleOf(schema: TSchema): unknown {
  const { examples, default: fallback, enum: values, items }: Keywords = schema;
  const own = examples?.[0] ?? fallback ?? values?.[0];
  return own === undefined && items ? [exampleOf(items)] : own;
}

/** Examples of the contract under their names. */
export function namedExamples(named: Readonly<Record<string, unknown>>): Json {
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [name, { value }]));
}

/** How a program calls an operation with the TypeScript client: its required inputs are the examples of the contract. */
export function clientSnippet({ name, path, params, body, query, paged, response }: Operation): string {
  const inputs = pathParameters(path).map((parameter) =>
    literal(exampleOf(params?.schema.properties[parameter] as TSchema)),
  );
  if (body) inputs.push(literal(Object.values(body.examples)[0]));
  const required = Object.entries<TSchema>(query?.properties ?? {}).filter(
    ([field, schema]) => query?.required?.includes(field) && !("default" in schema),
  );
  if (required.length > 0) {
    inputs.push(literal(Object.fromEntries(required.map(([field, schema]) => [field, exampleOf(schema)]))));
  }
  const call = `petstore.${name}(${inputs.join(", ")})`;
  if (paged || response.stream) return `for await (const item of ${call}) console.log(item);`;
  return response.status === 204 ? `await ${call};` : `console.log(await ${call});`;
}

/** A value as source code. */
function literal(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) => `${propertyName(name)}: ${literal(field)}`);
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}
