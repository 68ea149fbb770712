// What the peers with a store have in common: headers, links, cursors, entity tags.
import { crc32 } from "node:zlib";

export const DEPRECATION = "@1795219200";
export const SUNSET = "Thu, 05 Dec 2030 00:00:00 GMT";
export const JSON_TYPE = "application/json";
/** Of every response. */
export const COMMON_HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers":
    "Accept-Patch, Allow, Date, Deprecation, ETag, Idempotent-Replayed, Link, Location, Retry-After, Sunset, WWW-Authenticate, " +
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id",
  Vary: "Authorization",
  "X-Content-Type-Options": "nosniff",
};

/** The links of an operation that will be removed. */
export function deprecationLinks(base) {
  return (
    `<${base.replace(/\/v1$/, "/docs")}#tag/animals/getPet>; rel="deprecation"; type="text/html", ` +
    `<${base}/pets>; rel="successor-version"`
  );
}

/** The id after which a page starts; not a safe integer if the cursor is none of this list. */
export function positionOf(cursor) {
  return cursor === undefined ? 0 : Number(Buffer.from(cursor, "base64url").toString());
}

/** The link to the page after an animal. */
export function nextLink(base, { limit, status: wanted }, last) {
  const next = new URLSearchParams({ limit });
  if (wanted) next.set("status", wanted);
  next.set("cursor", Buffer.from(String(last.id)).toString("base64url"));
  return `<${base}/pets?${next}>; rel="next"`;
}

export function isPetId(text) {
  return /^[1-9][0-9]{0,15}$/.test(text);
}

export function entityTag(body) {
  return `"${body.length.toString(36)}-${crc32(body).toString(36)}"`;
}

/** The errors of the operations: status, code and message. */
export const KEY_REUSED = [422, "idempotency_key_reused", "This Idempotency-Key was already used with another body."];
export const WRONG_CURSOR = [400, "invalid_request", "cursor is not one of this list"];
export const NO_PATH = [404, "path_not_found", "There is nothing at this path."];
export const noPet = (id) => [404, "pet_not_found", `No animal has the id ${id}.`];

/** The headers of a new animal, which `outcome` tells. */
export function headersOfNew(base, { text, isReplay }) {
  const location = `${base}/pets/${JSON.parse(text).id}`;
  const headers = { "Content-Type": JSON_TYPE, ETag: entityTag(text), Location: location };
  if (isReplay) headers["Idempotent-Replayed"] = "true";
  return headers;
}
