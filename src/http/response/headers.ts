import { IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED } from "../../contract/idempotency-key.ts";
import { SIMULATE } from "../../contract/simulate-header.ts";
import { LAST_EVENT_ID } from "../../contract/stream.ts";
import type { Admission } from "../interfaces.ts";

/** The response headers that a script on another site may read (Fetch standard, section 3.3). */
const exposed = [
  "Allow",
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
  LAST_EVENT_ID,
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

/** The headers that are the same on every API response. */
export const sharedHeaders: Readonly<Record<string, string>> = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": exposed,
  ...noSniff,
};

/** Sets the headers of API responses that differ by request. */
export function setOwnHeaders(headers: Headers, requestId: string, admission: Admission): void {
  headers.set("X-RateLimit-Limit", String(admission.limit));
  headers.set("X-RateLimit-Remaining", String(admission.remaining));
  headers.set("X-RateLimit-Reset", String(admission.reset));
  headers.set("X-Request-Id", requestId);
}

/**
 * The headers of an operation's successes, in one object that each response copies. A value that is the same as in the
 * response before is not set again: comparing costs less than setting.
 */
export class SuccessHeaders {
  /** The headers that the next response copies. */
  readonly shared: Headers;
  #limit = Number.NaN;
  #reset = Number.NaN;
  #link: string | undefined;
  #tag: string | undefined;

  /** `shared` has the headers that do not change. */
  constructor(shared: Headers) {
    this.shared = shared;
  }

  /** Sets the headers of API responses that differ by request. */
  setOwn(requestId: string, { limit, remaining, reset }: Admission): void {
    if (limit !== this.#limit) this.shared.set("X-RateLimit-Limit", String((this.#limit = limit)));
    this.shared.set("X-RateLimit-Remaining", String(remaining));
    if (reset !== this.#reset) this.shared.set("X-RateLimit-Reset", String((this.#reset = reset)));
    this.shared.set("X-Request-Id", requestId);
  }

  /** Sets `Link`; an empty text removes it. */
  setLink(link: string): void {
    if (link === this.#link) return;
    this.#link = link;
    if (link === "") this.shared.delete("Link");
    else this.shared.set("Link", link);
  }

  setEntityTag(tag: string): void {
    if (tag !== this.#tag) this.shared.set("ETag", (this.#tag = tag));
  }
}

/** Additional headers of a stream: caches do not store it, and nginx does not buffer it. */
export const streamHeaders = { "Cache-Control": "no-store", "X-Accel-Buffering": "no" } as const;

/** The headers of a response to `OPTIONS`, for a browser's preflight too. */
export function optionsHeaders(allow: string): Record<string, string> {
  return {
    Allow: allow,
    "Access-Control-Allow-Methods": allow,
    "Access-Control-Allow-Headers": accepted,
    "Access-Control-Max-Age": PREFLIGHT_AGE,
  };
}

/** The value of `WWW-Authenticate` (RFC 6750, section 3). It has no error code if the request had no credentials. */
export function challenge(error: "none" | "invalid_token" | "insufficient_scope", scope?: string): string {
  const realm = 'Bearer realm="petstore"';
  if (error === "none") return realm;
  return scope ? `${realm}, error="${error}", scope="${scope}"` : `${realm}, error="${error}"`;
}
