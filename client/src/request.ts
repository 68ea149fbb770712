import { stringify } from "./json.ts";
import type { CallOptions, IfMatch, OnceOptions, Target } from "./options.ts";
import type { ResponseInfo } from "./response.ts";

/** An operation: its method, its path, and which of `body`, `query`, `list` (read by pages) and `free` (of quota) it has. */
export type OperationRow = readonly [method: string, path: string, ...parts: ("body" | "query" | "list" | "free")[]];

/** One call of an operation. */
export interface Call {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: unknown;
  readonly isFree: boolean;
}

export type AnyOptions = CallOptions & OnceOptions & IfMatch;

/** Makes the request of each attempt. All have the same `Idempotency-Key`, so the work is done once. */
export function makeRequest(
  { key, baseUrl }: Target,
  { method, path, query, body }: Call,
  { idempotencyKey, ifMatch }: AnyOptions,
): (signal: AbortSignal) => Request {
  const url = new URL(baseUrl + path);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value)); // a list is joined by commas
  }
  const headers = new Headers({ Authorization: `Bearer ${key}` });
  if (body !== undefined) headers.set("Content-Type", `application/${method === "PATCH" ? "merge-patch+" : ""}json`);
  if (method === "POST" || method === "PATCH") headers.set("Idempotency-Key", idempotencyKey ?? crypto.randomUUID());
  if (ifMatch !== undefined) headers.set("If-Match", etagOf(ifMatch));
  const text = body === undefined ? null : stringify(body);
  // A redirect to another host would take the key along.
  return (signal) => new Request(url.href, { method, headers, body: text, redirect: "manual", signal });
}

function etagOf(resource: string | object): string {
  const etag = typeof resource === "string" ? resource : (resource as { $response?: ResponseInfo }).$response?.etag;
  if (etag) return etag;
  throw new TypeError("`ifMatch` needs an ETag or the result of a call: copies and items of lists have no ETag.");
}

/** The call with these inputs, which are taken away. */
export function callOf(operation: string, [method, template, ...parts]: OperationRow, inputs: unknown[]): Call {
  const path = template.replace(/{\w+}/g, () => segment(String(inputs.shift())));
  const [body, query] = (["body", "query"] as const).map((part) => (parts.includes(part) ? inputs.shift() : undefined));
  return { operation, method, path, body, query: query as object, isFree: parts.includes("free") };
}

/** A path parameter. Nothing, or a step up, would lead to another operation. */
function segment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`"${text}" is no identifier.`);
  return encodeURIComponent(text);
}
