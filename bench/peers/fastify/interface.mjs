// What both services on Fastify have in common: schemas in and out, headers, entity tags.
import { crc32 } from "node:zlib";

const petStatus = { type: "string", enum: ["available", "pending", "sold"] };

export const newPet = {
  type: "object",
  required: ["name", "categoryId"],
  additionalProperties: false,
  properties: {
    name: { type: "string", minLength: 1, maxLength: 255 },
    categoryId: { type: "integer" },
    status: petStatus,
  },
};

export const pet = {
  type: "object",
  properties: { id: { type: "integer" }, name: { type: "string" }, categoryId: { type: "integer" }, status: petStatus },
};

export const listQuery = {
  type: "object",
  additionalProperties: false,
  properties: {
    limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
    status: petStatus,
    cursor: { type: "string", pattern: "^[A-Za-z0-9_-]+$" },
  },
};

export const DEPRECATION = "@1795219200";
export const SUNSET = "Thu, 05 Dec 2030 00:00:00 GMT";
export const EXPOSED =
  "Allow, Deprecation, ETag, Link, Location, Retry-After, Sunset, WWW-Authenticate, " +
  "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id";

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

/** A hook that gives a response its entity tag. */
export function tagResponse(request, reply, payload, done) {
  if (reply.statusCode !== 200) return done(null, payload);
  const tag = `"${payload.length.toString(36)}-${crc32(payload).toString(36)}"`;
  reply.header("ETag", tag);
  if (request.headers["if-none-match"] !== tag) return done(null, payload);
  reply.code(304);
  return done(null, null);
}

/** The error of a request that does not fit its schema, and of all others. */
export function handleError(error, request, reply) {
  if (error.validation) {
    const details = error.validation.map(({ instancePath, message }) => ({ path: instancePath, message }));
    return reply.code(400).send({ code: "invalid_request", message: error.message, status: 400, details });
  }
  const status = error.statusCode ?? 500;
  if (status >= 500) request.log.error(error);
  if (status >= 500) return refuse(reply, status, "failed", "The service failed.");
  return refuse(reply, status, error.code ?? "failed", error.message);
}

export function refuse(reply, status, code, message) {
  return reply.code(status).send({ code, message, status });
}
