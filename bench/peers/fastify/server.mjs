// The interface as a good engineer would write it with Fastify and better-sqlite3: schemas in and
// out, bearer keys, two windows of limits, prepared statements, keyset pages, entity tags, one log
// line a request, durable writes.
import Fastify from "fastify";
import pino from "pino";
import { EXPOSED, handleError, refuse } from "./interface.mjs";
import { KeyRing } from "./keys.mjs";
import { Limits } from "./limits.mjs";
import { PetStore } from "./pets.mjs";
import { routes } from "./routes.mjs";
import { openStore } from "./store.mjs";

const port = Number(process.env.PORT);
const store = openStore(process.env.STORE);
const keys = new KeyRing(store);
const limits = new Limits();

const app = Fastify({
  // Asynchronous, as pino's documentation advises for speed: lines are written in batches.
  loggerInstance: pino(pino.destination({ dest: 1, sync: false, minLength: 4096 })),
  disableRequestLogging: true, // one line a request instead of two
  bodyLimit: 64 * 1024,
  ajv: { customOptions: { removeAdditional: false, allErrors: true } },
});

const QUOTA_OF_ADDRESS = { perMinute: 60, perDay: 1_000 };

app.decorateRequest("caller", null);

app.addHook("onRequest", (request, reply, done) => {
  reply.header("X-Request-Id", request.id);
  reply.header("Access-Control-Allow-Origin", "*");
  reply.header("Access-Control-Expose-Headers", EXPOSED);
  const token = /^bearer +(.*)$/i.exec(request.headers.authorization ?? "")?.[1];
  const caller = token === undefined ? undefined : keys.find(token);
  const admission = caller
    ? limits.admit(caller.accountId, caller)
    : limits.admit(`address ${request.ip}`, QUOTA_OF_ADDRESS);
  reply.header("X-RateLimit-Limit", admission.limit);
  reply.header("X-RateLimit-Remaining", admission.remaining);
  reply.header("X-RateLimit-Reset", admission.reset);
  if (!admission.admitted) {
    reply.header("Retry-After", admission.retryAfter);
    return refuse(reply, 429, "rate_limit_exceeded", "The requests of the current window are used up.");
  }
  if (!caller) {
    reply.header("WWW-Authenticate", `Bearer realm="petstore"${token === undefined ? "" : ', error="invalid_token"'}`);
    return refuse(reply, 401, "invalid_api_key", "The API key is missing or not valid.");
  }
  request.caller = caller;
  return done();
});

app.addHook("onResponse", (request, reply, done) => {
  request.log.info({ req: request, res: reply, responseTime: reply.elapsedTime }, "request completed");
  done();
});

app.setErrorHandler(handleError);
app.setNotFoundHandler((_request, reply) => refuse(reply, 404, "path_not_found", "There is nothing at this path."));

await app.register(routes, { prefix: "/v1", pets: new PetStore(store), base: `http://127.0.0.1:${port}/v1` });
await app.listen({ host: "127.0.0.1", port });

process.once("SIGTERM", () => void stop());

async function stop() {
  await app.close();
  store.close();
  process.exit(0);
}
