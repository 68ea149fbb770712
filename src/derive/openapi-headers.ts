import { IDEMPOTENT_REPLAYED } from "../contract/idempotency-key.ts";

interface Header {
  readonly description: string;
  readonly schema: object;
}

const limitHeaders: Readonly<Record<string, Header>> = {
  "X-RateLimit-Limit": {
    description: "The applicable request limit: that of the window with the least remaining.",
    schema: { type: "integer", minimum: 1 },
  },
  "X-RateLimit-Remaining": {
    description: "Requests left in the current window.",
    schema: { type: "integer", minimum: 0 },
  },
  "X-RateLimit-Reset": {
    description: "Unix timestamp, in seconds, at which the limit resets.",
    schema: { type: "integer" },
  },
};

const otherHeaders: Readonly<Record<string, Header>> = {
  "X-Request-Id": {
    description: "Identifies the request in the service's log.",
    schema: { type: "string" },
  },
  "Retry-After": {
    description: "Whole seconds to wait before the next request (RFC 9110, section 10.2.3).",
    schema: { type: "integer", minimum: 1 },
  },
  "WWW-Authenticate": {
    description: "What is asked of the caller (RFC 6750, section 3).",
    schema: { type: "string" },
  },
  ETag: {
    description:
      "Entity tag of the answer. Sent back as `If-None-Match` it brings 304 while nothing has changed; sent as " +
      "`If-Match` with a change, that is refused if somebody else has changed the resource meanwhile.",
    schema: { type: "string" },
  },
  Location: {
    description: "Address of the new resource.",
    schema: { type: "string", format: "uri" },
  },
  NextLink: {
    description: 'The address of the next page as `rel="next"` (RFC 8288). Absent on the last page.',
    schema: { type: "string" },
  },
  [IDEMPOTENT_REPLAYED]: {
    description: "`true` on an answer that was given before, to a request with the same `Idempotency-Key`.",
    schema: { type: "string", enum: ["true"] },
  },
  RunningRetryAfter: {
    description: "Whole seconds to wait, on `idempotency_key_in_use` (RFC 9110, section 10.2.3).",
    schema: { type: "integer", minimum: 1 },
  },
  Deprecation: {
    description: "Since when the operation is deprecated, as `@` and unix seconds (RFC 9745).",
    schema: { type: "string" },
  },
  Sunset: {
    description: "When the operation is removed (RFC 8594).",
    schema: { type: "string" },
  },
  DeprecationLink: {
    description: 'The documentation (`rel="deprecation"`) and the replacement (`rel="successor-version"`).',
    schema: { type: "string" },
  },
};

/** Headers that some answers only have at times. */
const optional = new Set(["NextLink", IDEMPOTENT_REPLAYED, "RunningRetryAfter"]);

/** Headers that the document describes in more than one way. */
const headerNames: Readonly<Record<string, string>> = {
  NextLink: "Link",
  DeprecationLink: "Link",
  RunningRetryAfter: "Retry-After",
};

/** Names of the headers that every answer has. */
export const headersOfAll = [...Object.keys(limitHeaders), "X-Request-Id"];

/** The headers as components of the document, to which `headerReferences` refers. */
export function headerComponents(): Record<string, object> {
  return Object.fromEntries(
    Object.entries({ ...limitHeaders, ...otherHeaders }).map(([name, header]) => [
      name,
      { ...header, required: !optional.has(name) },
    ]),
  );
}

/** References to the components. */
export function headerReferences(names: readonly string[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [headerNames[name] ?? name, { $ref: `#/components/headers/${name}` }]));
}
