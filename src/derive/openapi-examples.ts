import type { TSchema } from "typebox";
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
