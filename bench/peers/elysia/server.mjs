// The same as the service on Fastify, with Elysia on Bun, its own schemas, and bun:sqlite.
import { Database } from "bun:sqlite";
import { Elysia } from "elysia";
import { Admission } from "../embedded/admission.mjs";
import { PetStore } from "../embedded/pets.mjs";
import { openStore } from "../embedded/store.mjs";
import { COMMON_HEADERS, NO_PATH } from "../interface.mjs";
import { openLog } from "../log.mjs";
import { failure } from "./failure.mjs";
import { routes } from "./routes.mjs";

const port = Number(process.env.PORT);
const store = openStore(Database, process.env.STORE);
const admission = new Admission(store);
const log = openLog();
let requests = 0;

const app = new Elysia({
  normalize: false, // refuses unknown fields instead of leaving them out
  serve: { hostname: "127.0.0.1", port, development: false, maxRequestBodySize: 64 * 1024 },
})
  .onRequest((context) => {
    const { request, server, set } = context;
    context.start = performance.now();
    context.requestId = `req-${(++requests).toString(36)}`;
    context.remote = server.requestIP(request); // unknown once the response is sent
    const addressOf = () => context.remote?.address;
    const { headers, caller, refusal } = admission.decide(request.headers.get("Authorization"), addressOf);
    Object.assign(set.headers, COMMON_HEADERS, headers, { "X-Request-Id": context.requestId });
    context.caller = caller;
    if (!refusal) return undefined;
    const body = failure(set, ...refusal);
    logRequest(context); // Elysia does not do it
    return body;
  })
  .onAfterResponse(logRequest)
  .onError(({ code, error, set }) => {
    if (code === "NOT_FOUND") return failure(set, ...NO_PATH);
    if (code === "VALIDATION") {
      const details = error.all.map(({ path, message }) => ({ path, message }));
      const message = details.map((detail) => `${detail.path} ${detail.message}`.trim()).join(", ");
      return failure(set, 400, "invalid_request", message, details);
    }
    if (code === "PARSE") return failure(set, 400, "invalid_request", "The body is not JSON.");
    log.error(error);
    return failure(set, 500, "failed", "The service failed.");
  })
  .use(routes(new PetStore(store), `http://127.0.0.1:${port}/v1`))
  .listen(port);

function logRequest({ request, remote, set, start, requestId: reqId }) {
  const { method, url, headers } = request;
  const { address: remoteAddress, port: remotePort } = remote ?? {};
  const path = url.slice(url.indexOf("/", "http://".length));
  const req = { method, url: path, host: headers.get("Host"), remoteAddress, remotePort };
  const responseTime = performance.now() - start;
  log.info({ reqId, req, res: { statusCode: set.status ?? 200 }, responseTime }, "request completed");
}

process.once("SIGTERM", () => void stop());

async function stop() {
  await app.stop(true);
  store.close();
  process.exit(0);
}
