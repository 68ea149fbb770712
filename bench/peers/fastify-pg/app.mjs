// The interface as a good engineer would write it with Fastify, pg and @fastify/rate-limit: schemas
// in and out, bearer keys that are remembered for a second, limits in Valkey, a pool, prepared
// statements, keyset pages, entity tags, one log line a request.
import rateLimit from "@fastify/rate-limit";
import Fastify from "fastify";
import { Redis } from "ioredis";
import { Pool, types } from "pg";
import { handleError, refuse, tagResponse } from "../fastify/replies.mjs";
import { COMMON_HEADERS, NO_PATH } from "../interface.mjs";
import { openLog } from "../log.mjs";
import { KeyRing } from "./keys.mjs";
import { PetStore } from "./pets.mjs";
import { routes } from "./routes.mjs";

const port = Number(process.env.PORT);
/** Connections of each process to the database. */
const POOL = 10;
const REQUESTS_OF_ADDRESS = 60;

// Numbers instead of texts, as most services have them: above 2^53 they are rounded.
types.setTypeParser(types.builtins.INT8, Number);
const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: POOL });
pool.on("error", () => {}); // the next query opens another connection
// Commands of one turn of the event loop go out together.
const valkey = new Redis(process.env.VALKEY_URL, { enableAutoPipelining: true, maxRetriesPerRequest: 1 });
const keys = new KeyRing(pool);

const app = Fastify({
  loggerInstance: openLog(),
  disableRequestLogging: true, // one line a request instead of two
  bodyLimit: 64 * 1024,
  ajv: { customOptions: { removeAdditional: false, allErrors: true } },
});

app.decorateRequest("caller", null);

app.addHook("onRequest", async (request, reply) => {
  reply.header("X-Request-Id", request.id);
  reply.headers(COMMON_HEADERS);
  const token = /^bearer +(.*)$/i.exec(request.headers.authorization ?? "")?.[1];
  if (token !== undefined) request.caller = (await keys.find(token)) ?? null;
});

await app.register(rateLimit, {
  redis: valkey,
  skipOnError: true,
  timeWindow: 60_000,
  keyGenerator: ({ caller, ip }) => (caller ? caller.accountId : `address ${ip}`),
  max: ({ caller }) => (caller ? caller.perMinute : REQUESTS_OF_ADDRESS),
  errorResponseBuilder: (_request, { statusCode }) =>
    Object.assign(new Error("The requests of the current window are used up."), {
      statusCode,
      code: "rate_limit_exceeded",
    }),
});

// After the limit, which is the route's own first hook: wrong keys count for their address.
app.addHook("preParsing", (request, reply, _payload, done) => {
  if (request.caller) return done();
  const error = request.headers.authorization === undefined ? "" : ', error="invalid_token"';
  reply.header("WWW-Authenticate", `Bearer realm="petstore"${error}`);
  return refuse(reply, 401, "invalid_api_key", "The API key is missing or not valid.");
});

app.addHook("onSend", tagResponse);

app.addHook("onResponse", (request, reply, done) => {
  request.log.info({ req: request, res: reply, responseTime: reply.elapsedTime }, "request completed");
  done();
});

app.setErrorHandler(handleError);
app.setNotFoundHandler({ preHandler: app.rateLimit() }, (_request, reply) => refuse(reply, ...NO_PATH));

await app.register(routes, { prefix: "/v1", pets: new PetStore(pool), base: `http://127.0.0.1:${port}/v1` });
await app.listen({ host: "127.0.0.1", port });

process.once("SIGTERM", () => void stop());

async function stop() {
  await app.close();
  await pool.end();
  valkey.disconnect();
  process.exit(0);
}
