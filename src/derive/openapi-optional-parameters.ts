import type { Json } from "./openapi-components.ts";

/**
 * Keeps optional parameters out of test requests until the user of the reference page adds them. Without
 * `x-disabled`, the page sends every parameter with an example, a default or an enum, so the first request would
 * have filters that nobody chose. Changes the document in place.
 */
export function disableOptionalParameters(document: Json): void {
  const { paths, components } = document as { paths: Record<string, Json>; components: Record<string, Json> };
  const operations = Object.values(paths).flatMap((item) => Object.values(item) as Json[]);
  const parameters = [
    ...operations.flatMap((operation) => operation["parameters"] as Json[]),
    ...(Object.values(components["parameters"] ?? {}) as Json[]),
  ];
  for (const parameter of parameters) {
    if ("$ref" in parameter || parameter["required"]) continue;
    const { example = firstValue(parameter["schema"] as Json, components["schemas"] ?? {}) } = parameter;
    const examples = (parameter["examples"] ?? (example === undefined ? {} : { example: { value: example } })) as Json;
    delete parameter["example"]; // a parameter has either `example` or `examples`
    const marked = Object.entries(examples).map(([name, one]) => [name, { ...(one as Json), "x-disabled": true }]);
    if (marked.length > 0) parameter["examples"] = Object.fromEntries(marked);
  }
}

/** The value that the page sends for a parameter without an example. */
function firstValue(schema: Json, schemas: Json): unknown {
  const name = /^#\/components\/schemas\/(.*)$/.exec(String(schema["$ref"]))?.[1];
  const { default: fallback, enum: values } = (name ? schemas[name] : schema) as {
    default?: unknown;
    enum?: unknown[];
  };
  return fallback ?? values?.[0];
}
