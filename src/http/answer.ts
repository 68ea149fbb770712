import { type Failure, insufficientScope, invalidApiKey, missingApiKey } from "../contract/errors.ts";
import { pathParameters } from "../contract/operation.ts";
import type { CompiledOperation } from "./compiled-operation.ts";
import { encodeCursor } from "./cursor.ts";
import { entityTag, matchesEntityTag } from "./entity-tag.ts";
import type { Exchange } from "./exchange.ts";
import { challenge, commonHeaders, optionsHeaders } from "./headers.ts";
import type { Admission } from "./ports.ts";
import { listName } from "./read-input.ts";

/** The answer to a request whose handler succeeded. `base` is the base address. */
export function answerSuccess(exchange: Exchange, admission: Admission, base: string): Response {
  const { operation: compiled, success, request } = exchange;
  if (!compiled || !success) throw new TypeError("A request was answered before it was handled.");
  const { status, location } = compiled.operation.answer;
  const headers = commonHeaders(exchange.id, admission);
  const link = addLinks(headers, compiled, nextLink(exchange, base));
  if (status === 204) return new Response(null, { status, headers });
  const body = compiled.serialize(success.body);
  if (status === 200) {
    const tag = entityTag(body, link);
    headers["ETag"] = tag;
    const ifNoneMatch = request.headers.get("if-none-match");
    if (ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, tag)) return new Response(null, { status: 304, headers });
  }
  headers["Content-Type"] = "application/json";
  if (location) headers["Location"] = base + fill(location, success.body as Record<string, unknown>);
  return new Response(body, { status, headers });
}

/** The answer to a request that failed, in the Error shape. */
export function answerFailure(exchange: Exchange, admission: Admission, failed: Failure): Response {
  const { error, message, details, retryAfter } = failed;
  const headers = commonHeaders(exchange.id, admission);
  headers["Content-Type"] = "application/json";
  if (exchange.operation) addLinks(headers, exchange.operation, "");
  if (retryAfter !== undefined) headers["Retry-After"] = String(retryAfter);
  if (error.status === 405) headers["Allow"] = exchange.route.allow;
  if (error === missingApiKey) headers["WWW-Authenticate"] = challenge("none");
  if (error === invalidApiKey) headers["WWW-Authenticate"] = challenge("invalid_token");
  if (error === insufficientScope) {
    headers["WWW-Authenticate"] = challenge("insufficient_scope", exchange.operation?.operation.scope);
  }
  const body = JSON.stringify({ code: error.code, message, status: error.status, details });
  return new Response(body, { status: error.status, headers });
}

/** The answer to `OPTIONS` on a known path: which methods there are, to anybody. */
export function answerOptions(exchange: Exchange, admission: Admission): Response {
  const headers = { ...commonHeaders(exchange.id, admission), ...optionsHeaders(exchange.route.allow) };
  return new Response(null, { status: 204, headers });
}

/** Adds the headers of deprecation and `Link`, whose value is returned. */
function addLinks(headers: Record<string, string>, compiled: CompiledOperation, next: string): string {
  for (const [name, value] of compiled.deprecationHeaders) headers[name] = value;
  const separator = next !== "" && compiled.deprecationLink !== "" ? ", " : "";
  const link = next + separator + compiled.deprecationLink;
  if (link !== "") headers["Link"] = link;
  return link;
}

/** The link to the next page (RFC 8288): the same query with another cursor. Empty on the last page. */
function nextLink({ operation: compiled, success, input }: Exchange, base: string): string {
  if (!compiled || !input || success?.next === undefined) return "";
  const { operation } = compiled;
  const query = input.query as Readonly<Record<string, unknown>>;
  const parameters = new URLSearchParams();
  for (const name in query) if (name !== "cursor") parameters.set(name, String(query[name]));
  parameters.set("cursor", encodeCursor(String(success.next), listName(operation, query)));
  return `<${base}${operation.path}?${parameters}>; rel="next"`;
}

/** Fills a path like `/pets/{id}` from an object. */
function fill(path: string, from: Readonly<Record<string, unknown>>): string {
  return pathParameters(path).reduce(
    (filled, name) => filled.replace(`{${name}}`, encodeURIComponent(String(from[name]))),
    path,
  );
}
