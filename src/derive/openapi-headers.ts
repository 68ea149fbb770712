import type { Operation } from "../contract/operation.ts";
import { deprecationHeaders } from "../contract/operation-properties.ts";
import { IDEMPOTENT_REPLAYED } from "../contract/requests.ts";

interface Header {
  /** The header, if the component has another, shorter name: every response refers to some of them. */
  readonly name?: string;
  /** True if a response may lack it although its component lists it. */
  readonly isOptional?: boolean;
  readonly description: string;
  readonly schema: object;
  readonly example?: unknown;
}

const text = { type: "string" };
const seconds = { type: "integer", format: "int32", minimum: 1, maximum: 2_147_483_647 };

const ofAll: Readonly<Record<string, Header>> = {
  Limit: {
    name: "X-RateLimit-Limit",
    description: "The applicable request limit: that of the window with the least remaining.",
    schema: { type: "integer", format: "int64", minimum: 1 },
    example: 60,
  },
  Remaining: {
    name: "X-RateLimit-Remaining",
    description: "Requests left in the current window.",
    schema: { type: "integer", format: "int64", minimum: 0 },
    example: 59,
  },
  Reset: {
    name: "X-RateLimit-Reset",
    description: "Unix timestamp, in seconds, at which the limit resets.",
    schema: { type: "integer", format: "int64" },
    example: 1_795_262_460,
  },
  RequestId: {
    name: "X-Request-Id",
    description: "Identifies the request in the service's log.",
    schema: text,
    example: "5f0c2a91d3b7e4806c1f",
  },
};

const ofSome: Readonly<Record<string, Header>> = {
  RetryAfter: {
    name: "Retry-After",
    description: "Whole seconds to wait before the next request (RFC 9110, section 10.2.3).",
    schema: seconds,
    example: 42,
  },
  Challenge: {
    name: "WWW-Authenticate",
    description: "The required credentials (RFC 6750, section 3).",
    schema: text,
    example: 'Bearer realm="petstore"',
  },
  ScopeChallenge: {
    name: "WWW-Authenticate",
    isOptional: true,
    description: "The required scope, on `insufficient_scope` (RFC 6750, section 3.1).",
    schema: text,
    example: 'Bearer realm="petstore", error="insufficient_scope", scope="write"',
  },
  ETag: {
    description:
      "The entity tag. Send it as `If-None-Match` to get 304 while nothing has changed. Operations that have the " +
      "parameter `If-Match` change the resource only if it is still this version.",
    schema: text,
    example: '"2gosa7pa2gv"',
  },
  AcceptPatch: {
    name: "Accept-Patch",
    isOptional: true,
    description: "The media types that a `PATCH` accepts (RFC 5789, section 3.1). Absent for other methods.",
    schema: text,
    example: "application/merge-patch+json, application/json",
  },
  Location: { description: "Address of the new resource.", schema: { type: "string", format: "uri" } },
  NextLink: {
    name: "Link",
    isOptional: true,
    description: 'The URL of the next page as `rel="next"` (RFC 8288). Absent on the last page.',
    schema: text,
  },
  Replayed: {
    name: IDEMPOTENT_REPLAYED,
    isOptional: true,
    description:
      "`true` if this is the stored response to an earlier request with the same `Idempotency-Key`. Otherwise absent.",
    schema: { type: "string", enum: ["true"] },
    example: "true",
  },
  RunningRetryAfter: {
    name: "Retry-After",
    isOptional: true,
    description: "Whole seconds to wait, on `idempotency_key_in_use` (RFC 9110, section 10.2.3).",
    schema: seconds,
    example: 1,
  },
  Deprecation: { description: "When the operation was deprecated, as `@` and Unix seconds (RFC 9745).", schema: text },
  Sunset: { description: "When the operation will be removed (RFC 8594).", schema: text },
  DeprecationLink: {
    name: "Link",
    description: 'The documentation (`rel="deprecation"`) and the replacement (`rel="successor-version"`).',
    schema: text,
  },
};

const headers = { ...ofAll, ...ofSome };

/** The headers that every response has. */
export const headersOfAll = Object.keys(ofAll);

/** The addresses in examples of headers: the base address, and the reference page. */
type ExampleParts = Parameters<typeof deprecationHeaders>[2];

/** The headers as components of the document, to which `headerReferences` refers. */
export function headerComponents(operations: readonly Operation[], parts: ExampleParts): Record<string, object> {
  const examples = headerExamples(operations, parts);
  return Object.fromEntries(
    Object.entries(headers).map(([component, { description, schema, example, isOptional = false }]) => [
      component,
      { example: example ?? examples[component], description, schema, required: !isOptional },
    ]),
  );
}

/** References to the components. */
export function headerReferences(components: readonly string[]): Record<string, object> {
  return Object.fromEntries(
    components.map((component) => [
      headers[component]?.name ?? component,
      { $ref: `#/components/headers/${component}` },
    ]),
  );
}

/** Examples of headers that depend on the operation, each from the first operation that has the header. */
function headerExamples(operations: readonly Operation[], parts: ExampleParts): Record<string, string | undefined> {
  const created = operations.find(({ response }) => response.location !== undefined)?.response;
  const [body] = Object.values(created?.examples ?? {}) as Record<string, unknown>[];
  const paged = operations.find((operation) => operation.paged);
  const deprecated = operations.find(({ deprecation }) => deprecation);
  const ofDeprecation = deprecated && deprecationHeaders(deprecated, operations, parts);
  const { base } = parts;
  return {
    Location:
      created?.location && base + created.location.replaceAll(/\{([^}]*)\}/g, (_, name) => String(body?.[name])),
    NextLink: paged && `<${base}${paged.path}?limit=20&cursor=6.cc0pd6>; rel="next"`,
    Deprecation: ofDeprecation?.Deprecation,
    Sunset: ofDeprecation?.Sunset,
    DeprecationLink: ofDeprecation?.Link,
  };
}
