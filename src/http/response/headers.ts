import type { Scope } from "../../contract/caller.ts";
import { type Failure, insufficientScope, invalidApiKey, missingApiKey } from "../../contract/errors.ts";
import { IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED, SIMULATE } from "../../contract/requests.ts";
import { LAST_EVENT_ID } from "../../contract/stream.ts";
import type { Admission } from "../interfaces.ts";

/** The response headers that a script on another site may read (Fetch standard, section 3.3). */
const exposed = [
  "Accept-Patch",
  "Allow",
  "Date",
  "Deprecation",
  "ETag",
  IDEMPOTENT_REPLAYED,
  "Link",
  "Location",
  "Retry-After",
  "Sunset",
  "WWW-Authenticate",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id",
].join(", ");

/** Headers that a script on another site may send. */
const accepted = [
  "Authorization",
  "Content-Type",
  IDEMPOTENCY_KEY,
  "If-Match",
  "If-None-Match",
  LAST_EVENT_ID.header,
  SIMULATE,
  "X-Request-Id",
  // W3C Trace Context and Baggage, and what the browser library of Sentry sends
  "traceparent",
  "tracestate",
  "baggage",
  "sentry-trace",
].join(", ");
/** How long a browser may cache the response to a preflight, in seconds: a day. */
const PREFLIGHT_AGE = "86400";

/** Keeps browsers from guessing what a response is (Fetch standard, section 3.5). */
export const noSniff = { "X-Content-Type-Options": "nosniff" } as const;

/**
 * The headers that are the same on every API response. Without `Vary`, a browser would give what it has cached for one
 * page to pages of the same site that have no key (RFC 9111, section 4.1).
 */
export const sharedHeaders: Readonly<Record<string, string>> = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": exposed,
  Vary: "Authorization",
  ...noSniff,
};

/**
 * The headers of similar responses, in one object that each response copies. A value that is the same as in the response
 * before is not set again: comparing costs less than setting.
 */
export class ReusedHeaders {
  /** The headers that the next response copies. */
  readonly shared: Headers;
  #limit = Number.NaN;
  #reset = Number.NaN;
  /** The values that `set` has set. */
  readonly #values: Record<string, string> = {};

  /** `always` are the headers that do not change. */
  constructor(always: Readonly<Record<string, string>>) {
    this.shared = new Headers(always);
  }

  /** Sets the headers of API responses that differ by request. */
  setOwn(requestId: string, { limit, remaining, reset }: Admission): void {
    if (limit !== this.#limit) this.shared.set("X-RateLimit-Limit", String((this.#limit = limit)));
    this.shared.set("X-RateLimit-Remaining", String(remaining));
    if (reset !== this.#reset) this.shared.set("X-RateLimit-Reset", String((this.#reset = reset)));
    this.shared.set("X-Request-Id", requestId);
  }

  /** Sets a header that not every response has; an empty text removes it. */
  set(name: string, value: string): void {
    if (value === (this.#values[name] ?? "")) return;
    this.#values[name] = value;
    if (value === "") this.shared.delete(name);
    else this.shared.set(name, value);
  }
}

/** The additional header of a response with a secret: no cache keeps it. */
export const secretHeaders = { "Cache-Control": "no-store" } as const;

/** Additional headers of a stream: caches do not store it, and proxies neither compress nor buffer it. */
export const streamHeaders = { "Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no" } as const;

/**
 * The headers of a response to `OPTIONS`, for a browser's preflight too. That permits every method, and has no `Allow` for
 * an unknown path, where `allow` is empty: a page can then read why its request is refused with 404 or 405.
 */
export function optionsHeaders(allow: string, acceptPatch: string): Record<string, string> {
  return {
    ...(allow && { Allow: allow }),
    ...(acceptPatch && { "Accept-Patch": acceptPatch }),
    "Access-Control-Allow-Methods": allow ? `${allow}, *` : "*",
    "Access-Control-Allow-Headers": accepted,
    "Access-Control-Max-Age": PREFLIGHT_AGE,
  };
}

const realm = 'Bearer realm="petstore"';
const unknownToken = `${realm}, error="invalid_token"`;

/**
 * The value of `WWW-Authenticate` (RFC 6750, section 3); empty for an error that does not depend on the key. `scopes` are
 * those of the operation.
 */
export function challenge({ error, scope }: Failure, scopes: readonly Scope[] = []): string {
  if (error === invalidApiKey) return unknownToken;
  if (error === missingApiKey) return realm; // a request without credentials gets no error code
  if (error !== insufficientScope) return "";
  const needed = scope === undefined || scopes.includes(scope) ? scopes : [...scopes, scope];
  return `${realm}, error="insufficient_scope", scope="${needed.join(" ")}"`;
}

/**
 * A strong entity tag (RFC 9110, section 8.8.3) of a representation, from its text and, for one page
 * of many, its links.
 */
export function entityTag(body: string | Uint8Array<ArrayBuffer>, link = ""): string {
  const digest = link === "" ? Bun.hash(body) : Bun.hash(body, BigInt(Bun.hash.crc32(link)));
  return `"${digest.toString(16)}"`; // a third of the time of other bases
}
