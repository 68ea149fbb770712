import { HTTPException } from "hono/http-exception";
import { entityTag } from "../interface.mjs";

/** A response with an entity tag. */
export function tagged(c, value) {
  const body = JSON.stringify(value);
  const tag = entityTag(body);
  c.header("ETag", tag);
  if (c.req.header("If-None-Match") === tag) return c.body(null, 304);
  return c.body(body, 200, { "Content-Type": "application/json" });
}

/** A hook of a validator that refuses what does not fit the schema. */
export function requireValid({ success, error }, c) {
  if (success) return undefined;
  const details = error.issues.map(({ path, message }) => ({ path: path.map((name) => `/${name}`).join(""), message }));
  const message = details.map((detail) => `${detail.path} ${detail.message}`.trim()).join(", ");
  return c.json({ code: "invalid_request", message, status: 400, details }, 400);
}

/** The response to an error. */
export function handleError(error, c, log) {
  if (error instanceof HTTPException) return refuse(c, error.status, "invalid_request", error.message);
  log.error(error);
  return refuse(c, 500, "failed", "The service failed.");
}

export function refuse(c, status, code, message) {
  return c.json({ code, message, status }, status);
}
