import { entityTag } from "../interface.mjs";

/** A hook that gives a response its entity tag. */
export function tagResponse(request, reply, payload, done) {
  if (reply.statusCode !== 200) return done(null, payload);
  const tag = entityTag(payload);
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
  return refuse(reply, status, status === 400 ? "invalid_request" : (error.code ?? "failed"), error.message);
}

export function refuse(reply, status, code, message) {
  return reply.code(status).send({ code, message, status });
}
