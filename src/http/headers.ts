import type { Admission } from "./ports.ts";

/** Every header of ours that a script on another site may read (Fetch standard, section 3.3). */
const exposed = [
  "Allow",
  "Deprecation",
  "ETag",
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
const accepted = "Authorization, Content-Type, If-None-Match";
/** How long a browser may keep the answer to a preflight, in seconds: a day. */
const PREFLIGHT_AGE = "86400";

/** The headers of every API response. */
export function commonHeaders(requestId: string, admission: Admission): Record<string, string> {
  return {
    "X-RateLimit-Limit": String(admission.limit),
    "X-RateLimit-Remaining": String(admission.remaining),
    "X-RateLimit-Reset": String(admission.reset),
    "X-Request-Id": requestId,
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": exposed,
  };
}

/** The headers that answer `OPTIONS`, for a browser's preflight too. */
export function optionsHeaders(allow: string): Record<string, string> {
  return {
    Allow: allow,
    "Access-Control-Allow-Methods": allow,
    "Access-Control-Allow-Headers": accepted,
    "Access-Control-Max-Age": PREFLIGHT_AGE,
  };
}

/** RFC 6750, section 3: no error code where no credential was sent. */
export function challenge(error: "none" | "invalid_token" | "insufficient_scope", scope?: string): string {
  const realm = 'Bearer realm="petstore"';
  if (error === "none") return realm;
  return scope ? `${realm}, error="${error}", scope="${scope}"` : `${realm}, error="${error}"`;
}
