import type { Operation } from "../contract/operation.ts";
import { deprecationHeaders, operationAnchor } from "../contract/operation-properties.ts";
import { IDEMPOTENT_REPLAYED } from "../contract/requests.ts";

interface Header {
  readonly description: string;
  readonly schema: object;
  readonly example?: unknown;
}

const limitHeaders: Readonly<Record<string, Header>> = {
  Limit: {
    description: "The applicable request limit: that of the window with the least remaining.",
    schema: { type: "integer", format: "int64", minimum: 1 },
    example: 60,
  },
  Remaining: {
    description: "Requests left in the current window.",
    schema: { type: "integer", format: "int64", minimum: 0 },
    example: 59,
  },
  Reset: {
    description: "Unix timestamp, in seconds, at which the limit resets.",
    schema: { type: "integer", format: "int64" },
    example: 1_795_262_460,
  },
};

const otherHeaders: Readonly<Record<string, Header>> = {
  RequestId: {
    description: "Identifies the request in the service's log.",
    schema: { type: "string" },
    example: "5f0c2a91d3b7e4806c1f",
  },
  RetryAfter: {
    description: "Whole seconds to wait before the next request (RFC 9110, section 10.2.3).",
    schema: { type: "integer", format: "int32", minimum: 1, maximum: 2_147_483_647 },
    example: 42,
  },
  Challenge: {
    description: "The required credentials (RFC 6750, section 3).",
    schema: { type: "string" },
    example: 'Bearer realm="petstore"',
  },
  ScopeChallenge: {
    description: "The required scope, on `insufficient_scope` (RFC 6750, section 3.1).",
    schema: { type: "string" },
    example: 'Bearer realm="petstore", error="insufficient_scope", scope="write"',
  },
  ETag: {
    description:
      "The entity tag. Send it as `If-None-Match` to get 304 while nothing has changed. Operations that have the " +
      "parameter `If-Match` change the resource only if it is still this version.",
    schema: { type: "string" },
    example: '"2gosa7pa2gv"',
  },
  Location: {
    description: "Address of the new resource.",
    schema: { type: "string", format: "uri" },
  },
  NextLink: {
    description: 'The URL of the next page as `rel="next"` (RFC 8288). Absent on the last page.',
    schema: { type: "string" },
  },
  Replayed: {
    description:
      "`true` if this is the stored response to an earlier request with the same `Idempotency-Key`. Otherwise absent.",
    schema: { type: "string", enum: ["true"] },
    example: "true",
  },
  RunningRetryAfter: {
    description: "Whole seconds to wait, on `idempotency_key_in_use` (RFC 9110, section 10.2.3).",
    schema: { type: "integer", format: "int32", minimum: 1, maximum: 2_147_483_647 },
    example: 1,
  },
  Deprecation: {
    description: "When the operation was deprecated, as `@` and Unix seconds (RFC 9745).",
    schema: { type: "string" },
  },
  Sunset: {
    description: "When the operation will be removed (RFC 8594).",
    schema: { type: "string" },
  },
  DeprecationLink: {
    description: 'The documentation (`rel="deprecation"`) and the replacement (`rel="successor-version"`).',
    schema: { type: "string" },
  },
};

/** Headers that a response may lack although its component lists them. */
const optional = new Set(["NextLink", "Replayed", "RunningRetryAfter", "ScopeChallenge"]);

/** The header names by component name. Component names are short, because every response refers to some of them. */
const headerNames: Readonly<Record<string, string>> = {
  Limit: "X-RateLimit-Limit",
  Remaining: "X-RateLimit-Remaining",
  Reset: "X-RateLimit-Reset",
  RequestId: "X-Request-Id",
  RetryAfter: "Retry-After",
  Challenge: "WWW-Authenticate",
  ScopeChallenge: "WWW-Authenticate",
  Replayed: IDEMPOTENT_REPLAYED,
  NextLink: "Link",
  DeprecationLink: "Link",
  RunningRetryAfter: "Retry-After",
};

/** The headers that every response has. */
export const headersOfAll = [...Object.keys(limitHeaders), "RequestId"];

/** The headers as components of the document, to which `headerReferences` refers. */
export function headerComponents(operations: readonly Operation[], parts: ExampleParts): Record<string, object> {
  const examples = headerExamples(operations, parts);
  return Object.fromEntries(
    Object.entries({ ...limitHeaders, ...otherHeaders }).map(([name, header]) => [
      name,
      { example: examples[name], ...header, required: !optional.has(name) },
    ]),
  );
}

/** References to the components. */
export function headerReferences(names: readonly string[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [headerNames[name] ?? name, { $ref: `#/components/headers/${name}` }]));
}

/** What the examples of headers are made from. */
interface ExampleParts {
  readonly base: string;
  /** The reference page. */
  readonly docs: string;
}

/** Examples of headers that depend on the operation, each from the first operation that has the header. */
function headerExamples(
  operations: readonly Operation[],
  { base, docs }: ExampleParts,
): Record<string, string | undefined> {
  const created = operations.find(({ response }) => response.location !== undefined)?.response;
  const [body] = Object.values(created?.examples ?? {}) as Record<string, unknown>[];
  const paged = operations.find((operation) => operation.paged);
  const deprecated = operations.find(({ deprecation }) => deprecation);
  const documentation = deprecated ? `${docs}#${operationAnchor(deprecated)}` : "";
  const ofDeprecation = deprecated && deprecationHeaders(deprecated, operations, { base, documentation });
  return {
    Location:
      created?.location && base + created.location.replaceAll(/\{([^}]*)\}/g, (_, name) => String(body?.[name])),
    NextLink: paged && `<${base}${paged.path}?limit=20&cursor=6.cc0pd6>; rel="next"`,
    Deprecation: ofDeprecation?.Deprecation,
    Sunset: ofDeprecation?.Sunset,
    DeprecationLink: ofDeprecation?.Link,
  };
}
