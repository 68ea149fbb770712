import type { Failure } from "../../contract/errors.ts";
import { IDEMPOTENT_REPLAYED } from "../../contract/requests.ts";
import type { Exchange } from "../exchange.ts";
import type { Admission } from "../interfaces.ts";
import { noResponse } from "../simulation/read-simulation.ts";
import { matchesIfNoneMatch } from "./entity-tag.ts";
import { challenge, optionsHeaders, ReusedHeaders, sharedHeaders } from "./headers.ts";
import type { Unread } from "./large-body.ts";

/** The response to a request whose handler succeeded. `base` is the base address. */
export function successResponse(exchange: Exchange, admission: Admission, base: string, unread: Unread): Response {
  const { operation: compiled, request, success, input, caller } = exchange;
  if (!compiled || !success || !input || !caller)
    throw new TypeError("A response was made before the request was handled.");
  const { status } = compiled.operation.response;
  // One object for all responses of the operation: copying it is cheaper than filling it again.
  const { successHeaders } = compiled;
  const headers = successHeaders.shared;
  successHeaders.setOwn(exchange.id, admission);
  if (compiled.eventEncoder) return streamResponse(exchange, headers);
  if (status === 204) return markReplay(exchange, new Response(null, { status, headers }));
  const { text, link, tag, location } = exchange.rendered ?? compiled.render(success, input);
  if (compiled.operation.paged) successHeaders.set("Link", link);
  if (location !== "") headers.set("Location", base + location);
  if (compiled.hasEntityTag) successHeaders.set("ETag", tag);
  if (!compiled.isCacheable)
    return markReplay(exchange, new Response(unread.bodyOf(text, caller.shop), { status, headers }));
  const ifNoneMatch = request.headers.get("if-none-match");
  if (ifNoneMatch === null || !matchesIfNoneMatch(ifNoneMatch, tag))
    return new Response(unread.bodyOf(text, caller.shop), { headers });
  const unchanged = new Response(null, { status: 304, headers });
  unchanged.headers.delete("Content-Type");
  return unchanged;
}

/** The response of a stream. For `HEAD`, its headers; the runtime would otherwise add the length of an empty body. */
function streamResponse({ stream }: Exchange, headers: Headers): Response {
  if (stream) return new Response(stream.body, { headers });
  const response = new Response(null, { headers });
  response.headers.set("Transfer-Encoding", "chunked");
  return response;
}

/** The headers of failures of requests that name no operation. */
const headersWithoutOperation = new ReusedHeaders({ ...sharedHeaders, "Content-Type": "application/json" });

/** The response to a failed request, with an Error body. With `closesConnection`, the connection is closed after it. */
export function failureResponse(
  exchange: Exchange,
  admission: Admission,
  failed: Failure,
  closesConnection: boolean,
): Response {
  const { error, message, details, retryAfter } = failed;
  if (error === noResponse) return closedConnection();
  const { operation: compiled } = exchange;
  const headers = compiled ? compiled.failureHeaders : headersWithoutOperation;
  headers.setOwn(exchange.id, admission);
  headers.set("Retry-After", retryAfter === undefined ? "" : String(retryAfter));
  headers.set("Allow", error.status === 405 ? exchange.route.allow : "");
  headers.set("WWW-Authenticate", challenge(failed, compiled?.operation.scopes));
  headers.set("Connection", closesConnection ? "close" : ""); // RFC 9112, section 9.6
  const body = JSON.stringify({ code: error.code, message, status: error.status, details });
  return markReplay(exchange, new Response(body, { status: error.status, headers: headers.shared }));
}

/** Returns the response, marked if it is a replay. */
function markReplay({ isReplay }: Exchange, response: Response): Response {
  if (isReplay) response.headers.set(IDEMPOTENT_REPLAYED, "true");
  return response;
}

/** No response: the runtime resets the connection when a body fails before its first byte. */
function closedConnection(): Response {
  const body = new ReadableStream({ start: (controller) => controller.error(undefined) }); // an Error would be printed
  return new Response(body, { status: noResponse.status });
}

/** The response to `OPTIONS` on a known path. It lists the methods and needs no key. */
export function optionsResponse(exchange: Exchange, admission: Admission): Response {
  const headers = new ReusedHeaders({ ...sharedHeaders, ...optionsHeaders(exchange.route.allow) });
  headers.setOwn(exchange.id, admission);
  return new Response(null, { status: 204, headers: headers.shared });
}
