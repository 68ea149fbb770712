// The same as the service on Fastify, with Hono on Bun, bun:sqlite and Zod. Both share what concerns neither the framework
// nor the driver (../embedded).
import { Database } from "bun:sqlite";
import { Hono } from "hono";
import { Admission } from "../embedded/admission.mjs";
import { PetStore } from "../embedded/pets.mjs";
import { openStore } from "../embedded/store.mjs";
import { COMMON_HEADERS, NO_PATH } from "../interface.mjs";
import { openLog } from "../log.mjs";
import { handleError, refuse } from "./responses.mjs";
import { routes } from "./routes.mjs";

const port = Number(process.env.PORT);
const store = openStore(Database, process.env.STORE);
const admission = new Admission(store);
const log = openLog();

const app = new Hono();
let requests = 0;

app.use(async (c, next) => {
  const start = performance.now();
  const reqId = `req-${(++requests).toString(36)}`;
  c.set("requestId", reqId);
  c.header("X-Request-Id", reqId);
  await next();
  const { method, url, raw } = c.req;
  const { address, port: remotePort } = c.env.requestIP(raw) ?? {};
  const req = {
    method,
    url: url.slice(url.indexOf("/", "http://".length)),
    host: c.req.header("Host"),
    remoteAddress: address,
    remotePort,
  };
  const responseTime = performance.now() - start;
  log.info({ reqId, req, res: { statusCode: c.res.status }, responseTime }, "request completed");
});

app.use(async (c, next) => {
  for (const name in COMMON_HEADERS) c.header(name, COMMON_HEADERS[name]);
  const addressOf = () => c.env.requestIP(c.req.raw)?.address;
  const { headers, caller, refusal } = admission.decide(c.req.header("Authorization"), addressOf);
  for (const name in headers) c.header(name, headers[name]);
  if (refusal) return refuse(c, ...refusal);
  c.set("caller", caller);
  return next();
});

app.route("/v1", routes(new PetStore(store), `http://127.0.0.1:${port}/v1`));
app.notFound((c) => refuse(c, ...NO_PATH));
app.onError((error, c) => handleError(error, c, log));

const server = Bun.serve({
  hostname: "127.0.0.1",
  port,
  development: false,
  maxRequestBodySize: 64 * 1024,
  fetch: app.fetch,
});

process.once("SIGTERM", () => void stop());

async function stop() {
  await server.stop(true);
  store.close();
  process.exit(0);
}
