import { isDeepStrictEqual } from "node:util";
import type { TObject, TSchema } from "typebox";
import { IDEMPOTENCY_KEY, IdempotencyKey } from "../contract/idempotency-key.ts";
import type { Operation } from "../contract/operation.ts";
import { isCacheable, takesIdempotencyKey } from "../contract/operation-properties.ts";
import { LOCAL_DESCRIPTION } from "../contract/schemas.ts";
import { SIMULATE, Simulate, simulateExamples } from "../contract/simulate-header.ts";
import { LAST_EVENT_ID } from "../contract/stream.ts";
import type { Components, Json } from "./openapi-components.ts";
import { exampleOf, namedExamples } from "./openapi-examples.ts";
import { ENTITY_TAG } from "./openapi-headers.ts";

/**
 * The parameters of an operation. `cursor` is the example of the parameter of this name, which depends on
 * all others.
 */
export function parametersOf(
  operation: Operation,
  operations: readonly Operation[],
  components: Components,
  cursor: string | undefined,
): Json[] {
  const { params, query, ifMatch, response } = operation;
  const list = (schema: TObject | undefined, place: "path" | "query") =>
    Object.entries<TSchema>(schema?.properties ?? {}).map(([name, property]) => {
      const { description, examples: _, [LOCAL_DESCRIPTION]: localDescription, ...rest } = property as Json;
      const isRequired = (schema?.required as string[] | undefined)?.includes(name) ?? false;
      return {
        name,
        in: place,
        required: place === "path" || (isRequired && rest["default"] === undefined) || undefined,
        description: localDescription ?? description,
        explode: rest["items"] ? false : undefined, // a list's items are separated by commas
        example: name === "cursor" && operation.paged ? cursor : exampleOf(property),
        schema: components.schema(rest["title"] === undefined ? rest : { ...rest, description }, "input"),
      };
    });
  const inPath = list(params?.schema, "path").map((parameter) =>
    isShared(parameter.name, operations)
      ? components.add("parameters", parameter.name.charAt(0).toUpperCase() + parameter.name.slice(1), parameter)
      : parameter,
  );
  return [
    ...inPath,
    ...list(query, "query"),
    ...(isCacheable(operation) ? [components.add("parameters", "IfNoneMatch", { ...ifNoneMatch })] : []),
    ...(response.stream ? [components.add("parameters", "LastEventId", { ...lastEventId })] : []),
    ...(ifMatch ? [components.add("parameters", "IfMatch", { ...ifMatchParameter })] : []),
    ...(takesIdempotencyKey(operation)
      ? [components.add("parameters", "IdempotencyKey", idempotencyKey(components))]
      : []),
    components.add("parameters", "Simulate", simulate(components)),
  ];
}

/** True if a path parameter of this name is the same wherever there is one. */
function isShared(name: string, operations: readonly Operation[]): boolean {
  const [first, ...others] = operations.flatMap(({ params }) => params?.schema.properties[name] ?? []);
  return others.every((other) => isDeepStrictEqual(first, other));
}

function idempotencyKey(components: Components): Json {
  return textHeader(IDEMPOTENCY_KEY, IdempotencyKey, components, { example: exampleOf(IdempotencyKey) });
}

function simulate(components: Components): Json {
  return textHeader(SIMULATE, Simulate, components, { examples: namedExamples(simulateExamples) });
}

/** An optional header whose value is a text of the contract. `shown` is how the document shows examples of it. */
function textHeader(name: string, text: TSchema, components: Components, shown: Json): Json {
  const { description, examples: _, ...schema } = text as Json & TSchema;
  return { name, in: "header", description, ...shown, schema: components.schema(schema, "input") };
}

// These constants are copied where they are used, because `disableOptionalParameters` changes the document in place.

const entityTags = { type: "string", minLength: 1 };

const ifNoneMatch: Json = {
  name: "If-None-Match",
  in: "header",
  description:
    "The `ETag` of an earlier response, several of them separated by commas, or `*`. If it still applies, the " +
    "response is 304 without a body (RFC 9110, section 13.1.2). It still costs quota.",
  example: ENTITY_TAG,
  schema: entityTags,
};

const lastEventId: Json = {
  name: LAST_EVENT_ID,
  in: "header",
  description: "The `id` of the last event that the client has received. The stream continues after it.",
  example: 41,
  schema: { type: "integer", format: "int64", minimum: 0 },
};

const ifMatchParameter: Json = {
  name: "If-Match",
  in: "header",
  description:
    "The `ETag` of the resource when the client read it, several of them separated by commas, or `*`. If the resource " +
    "has changed since, nothing is done (RFC 9110, section 13.1.1).",
  examples: {
    "Any version": { value: "*" },
    "The version that was read": { value: ENTITY_TAG },
  },
  schema: entityTags,
};
