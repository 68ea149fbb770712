import { Type } from "typebox";
import { type Failure, failure, methodNotAllowed, originNotAllowed, requestTimeout } from "../contract/errors.ts";
import type { Operation } from "../contract/operation.ts";
import { IDEMPOTENCY_KEY } from "../contract/requests.ts";
import type { Api, ApiServices } from "../http/api.ts";
import type { Peers, Route } from "../http/exchange.ts";
import { compileBodyReader } from "../http/input/read-body.ts";
import { plainError } from "../http/response/web-content.ts";
import type { AnswerMessage, Ask } from "./answer.ts";

interface AgentServices extends Pick<ApiServices, "deadlines" | "drains"> {
  readonly api: Api;
  /** Routes below the base address. */
  readonly routes: ReadonlyMap<string, Route>;
  readonly operations: readonly Operation[];
  /** The base address. */
  readonly base: string;
}

/** Headers of a message that do not belong to the request that it becomes. */
const ofMessage = ["Content-Encoding", "If-Match", "If-None-Match", IDEMPOTENCY_KEY];

const onlyPost = { Allow: "POST" };
const readMessage = compileBodyReader({ schema: Type.Unsafe<unknown>({}), examples: {} }, ["application/json"]);

/**
 * Returns what serves the tools for assistants: the Model Context Protocol over HTTP, without sessions and streams. What
 * speaks it is loaded with the first message.
 */
export function agentEndpoint({ api, deadlines, drains, routes, operations, base }: AgentServices) {
  const { origin } = new URL(base);
  const routeOf = new Map(
    [...routes.values()].flatMap((route) => [...route.methods.values()].map(({ operation }) => [operation, route])),
  );
  let loading: Promise<AnswerMessage> | undefined;

  const refuse = async (request: Request, failed: Failure) => {
    const isReusable = await drains.drain(request, failed);
    return plainError(failed.error, failed.message, isReusable ? {} : { Connection: "close" });
  };

  return async (request: Request, peers: Peers): Promise<Response> => {
    if (request.method !== "POST") return plainError(methodNotAllowed, "This path supports POST only.", onlyPost);
    if ((request.headers.get("origin") ?? origin) !== origin) {
      return refuse(request, failure(originNotAllowed, "Pages of other sites cannot use the tools for assistants."));
    }
    const late = deadlines.register(() => refuse(request, failure(requestTimeout, requestTimeout.meaning)));
    const read = await Promise.race([readMessage(request), late.result]);
    deadlines.settle(late, Response.error());
    if (read instanceof Response) return read;
    if ("error" in read) return refuse(request, read);

    const sender: Peers = { requestIP: () => peers.requestIP(request), timeout: () => {} };
    const ask: Ask = async (operation, call) => {
      const { params = {}, query = "", body, idempotencyKey } = call ?? {};
      const { method, path } = operation;
      const route = routeOf.get(operation) as Route;
      const headers = new Headers(request.headers);
      for (const name of ofMessage) headers.delete(name);
      headers.set("Content-Type", "application/json");
      headers.set("Content-Length", String(Buffer.byteLength(body ?? "")));
      // A text that no header can hold must be refused like any other that is no key.
      if (idempotencyKey !== undefined) headers.set(IDEMPOTENCY_KEY, idempotencyKey.replace(/[^ -~]/g, " "));
      const sent = new Request(`${base}${path}?${query}`, { method, headers, ...(body && { body }) });
      return api.serve(route, Object.assign(sent, { params }), sender); // `params` are what a router finds in a path
    };
    loading ??= import("./answer.ts").then(({ answerWith }) => answerWith(operations));
    const answer = await (await loading)(request, read, ask);
    // Pages of other sites may not read what refuses a message either.
    for (const name of ["Access-Control-Allow-Origin", "Access-Control-Expose-Headers"]) answer.headers.delete(name);
    return answer;
  };
}
