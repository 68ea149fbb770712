// The interface as a good engineer would write it with Fastify and better-sqlite3: schemas in and
// out, bearer keys, two windows of limits, prepared statements, keyset pages, entity tags, one log
// line a request, durable writes.
import Database from "better-sqlite3";
import Fastify from "fastify";
import { Admission } from "../embedded/admission.mjs";
import { PetStore } from "../embedded/pets.mjs";
import { openStore } from "../embedded/store.mjs";
import { COMMON_HEADERS, NO_PATH } from "../interface.mjs";
import { openLog } from "../log.mjs";
import { handleError, refuse } from "./replies.mjs";
import { routes } from "./routes.mjs";

const port = Number(process.env.PORT);
const store = openStore(Database, process.env.STORE);
const admission = new Admission(store);

const app = Fastify({
  loggerInstance: openLog(),
  disableRequestLogging: true, // one line a request instead of two
  bodyLimit: 64 * 1024,
  ajv: { customOptions: { removeAdditional: false, allErrors: true } },
});

app.decorateRequest("caller", null);

app.addHook("onRequest", (request, reply, done) => {
  reply.header("X-Request-Id", request.id);
  reply.headers(COMMON_HEADERS);
  const { headers, caller, refusal } = admission.decide(request.headers.authorization, () => request.ip);
  reply.headers(headers);
  if (refusal) return refuse(reply, ...refusal);
  request.caller = caller;
  return done();
});

app.addHook("onResponse", (request, reply, done) => {
  request.log.info({ req: request, res: reply, responseTime: reply.elapsedTime }, "request completed");
  done();
});

app.setErrorHandler(handleError);
app.setNotFoundHandler((_request, reply) => refuse(reply, ...NO_PATH));

await app.register(routes, { prefix: "/v1", pets: new PetStore(store), base: `http://127.0.0.1:${port}/v1` });
await app.listen({ host: "127.0.0.1", port });

process.once("SIGTERM", () => void stop());

async function stop() {
  await app.close();
  store.close();
  process.exit(0);
}
