import { Type } from "typebox";
import { failure, methodNotAllowed, originNotAllowed } from "../contract/errors.ts";
import type { Operation } from "../contract/operation.ts";
import { IDEMPOTENCY_KEY } from "../contract/requests.ts";
import type { Api, ApiServices } from "../http/api.ts";
import type { Exchange, Messages, Peers, Route } from "../http/exchange.ts";
import { type BodyReader, compileBodyReader } from "../http/input/read-body.ts";
import { plainError } from "../http/response/web-content.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import type { AnswerMessage, Ask } from "./answer.ts";

interface AgentServices extends Pick<ApiServices, "unread"> {
  readonly api: Api;
  /** Routes below the base address. */
  readonly routes: ReadonlyMap<string, Route>;
  readonly operations: readonly Operation[];
  /** The base address. */
  readonly base: string;
}

/** Headers of a message that do not belong to the request that it becomes. */
const ofMessage = ["Content-Encoding", "If-Match", "If-None-Match", IDEMPOTENCY_KEY];

/** The length of a page for a tool, in bytes: its answer, of at most 64 KiB, has the page twice, once with escapes. */
const PAGE_BYTES = 20 * 1024;

const onlyPost = { Allow: "POST" };
const readMessage = compileBodyReader({ schema: Type.Unsafe<unknown>({}), examples: {} }, ["application/json"]);
const foreign = failure(originNotAllowed, "Pages of other sites cannot use the tools for assistants.");

/**
 * Returns what serves the tools for assistants: the Model Context Protocol over HTTP, without sessions and streams. What
 * speaks it is loaded with the first message.
 */
export function agentEndpoint({ api, unread, routes, operations, base }: AgentServices) {
  const { origin } = new URL(base);
  const routeOf = new Map(
    [...routes.values()].flatMap((route) => [...route.methods.values()].map(({ operation }) => [operation, route])),
  );
  let loading: Promise<AnswerMessage> | undefined;

  const read: BodyReader = (request) =>
    (request.headers.get("origin") ?? origin) === origin ? readMessage(request) : foreign;

  /** Sends the requests that a message becomes. */
  const askFor = ({ request: message, peers }: Exchange): Ask => {
    const sender: Peers = { requestIP: () => peers.requestIP(message), timeout: () => {} };
    return async (operation, call) => {
      const { params = {}, query = "", body, idempotencyKey } = call ?? {};
      const { method, path } = operation;
      const headers = new Headers(message.headers);
      for (const name of ofMessage) headers.delete(name);
      headers.set("Content-Type", "application/json");
      headers.set("Content-Length", String(Buffer.byteLength(body ?? "")));
      // A text that no header can hold must be refused like any other that is no key.
      if (idempotencyKey !== undefined) headers.set(IDEMPOTENCY_KEY, idempotencyKey.replace(/[^ -~]/g, " "));
      const sent = new Request(`${base}${path}?${query}`, { method, headers, ...(body && { body }) });
      const route = routeOf.get(operation) as Route;
      // `params` are what a router finds in a path.
      return api.serve(route, Object.assign(sent, { params, pageBytes: PAGE_BYTES }), sender);
    };
  };

  const answer: Messages["answer"] = async (exchange, caller, message) => {
    loading ??= import("./answer.ts").then(({ answerWith }) => answerWith(operations, unread));
    return (await loading)(exchange.request, message, askFor(exchange), caller.shop);
  };

  const route: Route = { methods: new Map(), allow: "POST", messages: { read, answer } };
  return (request: Request, peers: Peers): MaybePromise<Response> =>
    request.method === "POST"
      ? whenReady(api.serve(route, request, peers), withoutCors)
      : plainError(methodNotAllowed, "This path supports POST only.", onlyPost);
}

/** Pages of other sites may not read what refuses a message either. */
function withoutCors(response: Response): Response {
  for (const name of ["Access-Control-Allow-Origin", "Access-Control-Expose-Headers"]) response.headers.delete(name);
  return response;
}
